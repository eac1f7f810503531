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

TEST_CASE("cumprod: gradients at zeros") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, 4> x("x");
    for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true})
            for (const auto& at : std::vector<std::vector<double>>{{0, 2, 3, 4},
                                                                   {2, 0, 3, 4},
                                                                   {2, 3, 4, 0},
                                                                   {0, 2, 0, 3},
                                                                   {2, 0, 0, 3},
                                                                   {0, 0, 0, 0},
                                                                   {1, 2, 3, 4}}) {
                INFO(exclusive << reverse << " at " << at[0] << at[1] << at[2] << at[3]);
                const auto y = cumprod<0>(x, {exclusive, reverse});
                const auto [dy] = gradients(y, x);
                const auto sum = [&](std::vector<double> moved, std::size_t k, double by) {
                    moved[k] += by;
                    return s.run(reduce_sum(y), feed(x, moved));
                };
                const auto found = s.run(dy, feed(x, at));
                for (std::size_t k = 0; k < 4; ++k) // as TensorFlow: nothing flows to a zero
                    CHECK(found(k) ==
                          Approx(at[k] == 0 ? 0 : (sum(at, k, 1e-6) - sum(at, k, -1e-6)) / 2e-6).epsilon(1e-6));
            }
    const auto [d] = gradients(cumprod<0>(x), x);
    const auto [d2] = gradients(d, x);
    for (const double v : s.run(d2, feed(x, std::vector<double>{2, 0, 3, 0}))) CHECK(std::isfinite(v));
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
