// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/log_sigmoid.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_nn_log_sigmoid {
constexpr auto f = [](const auto& x) { return log_sigmoid(x); };

TEST_CASE("log_sigmoid: values, typed and untyped, free of overflow") {
    op_test::unary<float, double>("log_sigmoid", f, [](auto x) {
        return std::isnan(x) ? x : std::min(x, decltype(x)(0)) - std::log1p(std::exp(-std::abs(x)));
    });
}

TEST_CASE("log_sigmoid: gradient, to second order") { op_test::gradients(f, {{-2, 2}}, 2); }

} // namespace test_ops_nn_log_sigmoid
