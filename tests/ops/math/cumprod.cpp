// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/cumprod.hpp>

#include <rill/ops/math/reduce_sum.hpp>

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

TEST_CASE("cumprod: gradients at zeros, to second order, and beside infinity") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, 2, 4> x("x");
    for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true}) {
            INFO(exclusive << reverse);
            const auto rows = cumprod<1>(x, {exclusive, reverse}), columns = cumprod<0>(x, {exclusive, reverse});
            for (const auto& at : std::vector<std::vector<double>>{{0, 2, 3, 4, 2, 0, 3, 4},
                                                                   {2, 3, 4, 0, 0, 2, 0, 3},
                                                                   {2, 0, 0, 3, 0, 0, 0, 0},
                                                                   {1, 2, 3, 4, 0, 3, 0, 5}}) {
                op_test::gradient_check{s, {x}, {op_test::make_array<double>({2, 4}, at)}}.check(rows, 2);
                op_test::gradient_check{s, {x}, {op_test::make_array<double>({2, 4}, at)}}.check(columns, 2);
            }
        }
    placeholder<float, dyn> f("f");
    const auto [df] = gradients(cumprod<0>(f), f);
    const auto slopes = [&](const std::vector<float>& v) { return op_test::list(s.run(df, feed(f, v))); };
    CHECK(slopes({0, 2, 3}) == std::vector<float>{9, 0, 0});
    const float inf = std::numeric_limits<float>::infinity();
    CHECK(slopes({2, inf}) == std::vector<float>{inf, 2});
    CHECK(slopes({3, inf, 2}) == std::vector<float>{inf, 9, inf});
}

TEST_CASE("cumprod: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor c = constant({{1, 2}, {3, 4}});
    CHECK(op_test::difference<int>(s.run(any_tensor(cumprod(c, -1))), {2, 2}, {1, 2, 3, 12}) == "");
    CHECK(s.run(cumprod(c, 0, {.exclusive = true}))(1, 0) == 1);
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
