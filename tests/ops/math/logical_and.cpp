// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/logical_and.hpp>

#include <rill/ops/math/less.hpp>
#include <rill/ops/math/logical_or.hpp>
#include <rill/ops/math/logical_xor.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_logical_and {
constexpr auto f = [](const auto& a, const auto& b) { return logical_and(a, b); };
constexpr auto reference = [](auto a, auto b) { return a && b; };
} // namespace test_logical_and

TEST_CASE("logical_and: values") {
    op_test::binary<bool>("logical_and", test_logical_and::f, test_logical_and::reference);
}

TEST_CASE("logical_and, logical_or, logical_xor: of comparisons of different dtypes, in one expression") {
    const graph_scope here{graph()};
    placeholder<int, dyn> i("i");
    placeholder<double, dyn> x("x");
    const tensor both = logical_and(i < 3, x < 5.), any = logical_or(i < 3, x < 5.), one = logical_xor(x < 5., i < 3);
    const session s;
    std::vector<int> is;
    std::vector<double> xs;
    for (int k = 0; k < 37; ++k) is.push_back(k % 5), xs.push_back(k % 7);
    const auto [b, a, o] = s.run(std::tuple(both, any, one), feed(i, is), feed(x, xs));
    for (std::size_t k = 0; k < 37; ++k) {
        CHECK(b(k) == (is[k] < 3 && xs[k] < 5));
        CHECK(a(k) == (is[k] < 3 || xs[k] < 5));
        CHECK(o(k) == ((is[k] < 3) != (xs[k] < 5)));
    }
}
