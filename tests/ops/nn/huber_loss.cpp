// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/huber_loss.hpp>

#include <rill/ops/array/zeros.hpp>
#include <rill/ops/math/cast.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_huber_loss {

double huber(double error, double delta) {
    error = std::abs(error);
    return error <= delta ? error * error / 2 : delta * (error - delta / 2);
}

TEST_CASE("huber_loss: values and gradient, to second order") {
    const auto check = [](double delta, double from) {
        op_test::node<double, 2, 2>([delta](const auto& x, const auto& y) { return huber_loss(x, y, delta); },
                                    [delta](const auto& x, const auto& y) {
                                        double sum = 0;
                                        for (std::size_t i = 0; i < x.size(); ++i)
                                            sum += huber(x.data()[i] - y.data()[i], delta);
                                        return xt::xarray<double>(sum / static_cast<double>(x.size()));
                                    },
                                    {{3, 4}, {3, 4}}, {.in = {{-1, 1}, {from, from + 1}}});
    };
    check(4.5, -1); // all within
    check(0.5, 2);  // all beyond
    check(0.5, -4);
    check(1, -1); // some of either kind
}

TEST_CASE("huber_loss: a delta of 1 unless given, and the gradient on the bound") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, 4> labels("labels"), x("x");
    const auto loss = huber_loss(labels, x);
    static_assert(std::is_same_v<decltype(huber_loss(labels, x)), tensor<float>>);
    const auto [d] = gradients(loss, x);
    const std::vector<float> zeros(4), at{0.5f, -3, 1, 0};
    const auto [value, slope] = s.run(std::tuple(loss, d), feed(labels, zeros), feed(x, at));
    CHECK(value == Approx((0.125 + 2.5 + 0.5) / 4));
    CHECK(op_test::list(slope) == std::vector<float>{0.125f, -0.25f, 0.25f, 0});
    const float inf = std::numeric_limits<float>::infinity();
    CHECK(op_test::list(s.run(d, feed(labels, zeros), feed(x, std::vector<float>{inf, -inf, 3e38f, 0}))) ==
          std::vector<float>{0.25f, -0.25f, 0.25f, 0});
}

TEST_CASE("huber_loss: a delta above all numbers, where only squares are left") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, 2> x("x");
    const auto zero = zeros<float, 2>();
    const std::vector<float> at{3, 1};
    for (const double delta : {1e300, std::numeric_limits<double>::infinity()}) {
        CHECK(s.run(huber_loss(zero, x, delta), feed(x, at)) == 2.5f);
        const auto [d] = gradients(huber_loss(zero, x, delta), x);
        CHECK(op_test::list(s.run(d, feed(x, at))) == std::vector<float>{1.5f, 0.5f});
        const auto [dh] = gradients(huber_loss(cast<half>(zero), cast<half>(x), delta), x);
        CHECK(op_test::list(s.run(dh, feed(x, at))) == std::vector<float>{1.5f, 0.5f});
    }
}

TEST_CASE("huber_loss: types known at run time only, and what is refused") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float32, {2}), y = any_placeholder("y", dtype::float32, {2}),
               column = any_placeholder("column", dtype::float32, {2, 1}),
               doubles = any_placeholder("doubles", dtype::float64, {2});
    const auto a = op_test::make_array<float>({2}, {1, 2}), b = op_test::make_array<float>({2}, {1.5f, 5});
    CHECK(op_test::difference<float>(op_test::run(s, huber_loss(x, y), {x, y}, {a, b}), {}, {(0.125f + 2.5f) / 2}) ==
          "");
    CHECK_THROWS_WITH(huber_loss(x, column),
                      contains("huber_loss: the shapes differ") && contains("[2]") && contains("[2, 1]"));
    CHECK_THROWS_WITH(huber_loss(x, doubles), contains("huber_loss: the dtypes differ"));
    CHECK_THROWS_WITH(huber_loss(x, y, 0), contains("huber_loss: delta is 0"));
    CHECK_THROWS_AS(huber_loss(x, y, std::nan("")), invalid_argument);
}

} // namespace test_huber_loss
