// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/l2_loss.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_l2_loss {

TEST_CASE("l2_loss: values and gradient, to second order") {
    const auto reference = [](const auto& x) {
        double sum = 0;
        for (const double v : x) sum += v * v;
        return xt::xarray<double>(sum / 2);
    };
    op_test::node<double, 2>([](const auto& x) { return l2_loss(x); }, reference, {{3, 4}});
    op_test::node<double, 1>([](const auto& x) { return l2_loss(2.0 * x); },
                             [&](const auto& x) { return xt::xarray<double>(4 * reference(x)); }, {{700}},
                             {.order = 1});
    op_test::node<double, 1>([](const auto& x) { return l2_loss(x); }, reference, {{0}});
    static_assert(std::is_same_v<decltype(l2_loss(std::declval<tensor<float, 2, dyn>>())), tensor<float>>);
}

TEST_CASE("l2_loss: of a tensor whose type is known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float32);
    const auto at = op_test::make_array<float>({2, 2}, {1, 2, 3, 4});
    CHECK(op_test::difference<float>(op_test::run(s, l2_loss(x), {x}, {at}), {}, {15}) == "");
    CHECK_THROWS_AS(l2_loss(any_placeholder("ids", dtype::int32)), invalid_argument);
}

} // namespace test_l2_loss
