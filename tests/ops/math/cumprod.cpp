// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/cumprod.hpp>

#include "ops/math/scan_test.hpp"

using namespace rill;

namespace test_cumprod {

static_assert(std::is_same_v<decltype(cumprod<-1>(std::declval<tensor<float, 2, dyn>>())), tensor<float, 2, dyn>>);

struct op {
    static constexpr int first = 1;
    static auto join(auto a, auto b) { return a * b; }
    static auto run(const auto& x, const cumulative_options& how) { return cumprod<1>(x, how); }
};

TEST_CASE("cumprod: values and gradients, to second order") { scan_test::values_and_gradients<op>(); }

TEST_CASE("cumprod: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor c = constant({{1, 2}, {3, 4}});
    CHECK(op_test::difference<int>(s.run(cumprod(c, -1)), {2, 2}, {1, 2, 3, 12}) == "");
    CHECK(s.run(cumprod(c, 0, {.exclusive = true})).elements<int>()[2] == 1);
    CHECK_THROWS_WITH(cumprod(c, 2), contains("cumprod: the axis is out of range") && contains("[2, 2]"));
    const op_ptr made = make_op(cumprod_op{{1, {.reverse = true}}});
    CHECK(make_op("Cumprod", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("Cumprod")->equals(*made));
}

TEST_CASE("cumprod: complex numbers, and their gradients") {
    detail::require_gradient_kernels<std::complex<double>>();
    scan_test::check<op, std::complex<double>>({2, 3, 2}, {.in = {{0.5, 1.5}}});
}

} // namespace test_cumprod
