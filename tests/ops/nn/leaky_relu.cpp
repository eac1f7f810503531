// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/leaky_relu.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_leaky_relu {
constexpr auto f = [](const auto& x) { return leaky_relu(x, 0.25); };
constexpr auto trained = [](const auto& x, const auto& slope) { return leaky_relu(x, slope); };
} // namespace test_leaky_relu

TEST_CASE("leaky_relu: values") {
    op_test::unary<float, double>("leaky_relu", test_leaky_relu::f,
                                  [](auto x) { return x > 0 ? x : decltype(x)(0.25) * x; });
    op_test::unary<float>(
        "leaky_relu", [](const auto& x) { return leaky_relu(x); }, [](float x) { return x > 0 ? x : 0.2f * x; });
    op_test::binary<float, double>("leaky_relu", test_leaky_relu::trained,
                                   [](auto x, auto slope) { return x > 0 ? x : slope * x; });
}
TEST_CASE("leaky_relu: gradient") {
    op_test::gradients(test_leaky_relu::f, {{0.1, 2}});
    op_test::gradients(test_leaky_relu::f, {{-2, -0.1}});
    op_test::gradients(test_leaky_relu::trained, {{-2, -0.1}, {0.1, 0.5}});
    op_test::gradients(test_leaky_relu::trained, {{0.1, 2}, {0.1, 0.5}}, 2);
}
