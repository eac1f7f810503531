// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/equal.hpp>

#include <rill/ops/math/not_equal.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_equal {
constexpr auto f = [](const auto& a, const auto& b) { return equal(a, b); };
constexpr auto reference = [](auto a, auto b) { return a == b; };
} // namespace test_equal

TEST_CASE("equal: values") {
    op_test::binary<float, double, int, bool, std::complex<double>>("equal", test_equal::f, test_equal::reference);
}

TEST_CASE("equal: text beside text of the program") {
    const graph_scope here{graph()};
    const placeholder<std::string, dyn> x("x");
    const std::string a = "a";
    const session s;
    const std::vector<std::string> words{"a", "b"};
    const auto first = equal(x, "a");
    static_assert(std::is_same_v<std::remove_const_t<decltype(first)>, tensor<bool, dyn>>);
    CHECK((s.run(first, feed(x, words)) == xt::xtensor<bool, 1>{true, false}));
    CHECK((s.run(equal(a, x), feed(x, words)) == xt::xtensor<bool, 1>{true, false}));
    CHECK((s.run(not_equal(x, a), feed(x, words)) == xt::xtensor<bool, 1>{false, true}));
    CHECK((s.run(not_equal("b", x), feed(x, words)) == xt::xtensor<bool, 1>{true, false}));
    CHECK(s.run(equal(any_tensor(x), "b"), feed(x, words)).elements<bool>()[1]);
}
