// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// variable -= rate * gradient.
struct gradient_descent_rule {
    using compiled_types = types::floats;
    static constexpr auto name = "ApplyGradientDescent";
    static constexpr std::array<const char*, 0> slots{};
    static constexpr int numbers = 1; // the learning rate
    static constexpr bool by_rows = true, adds_up = true;

    RILL_FN std::array<double, 1> constants(const std::array<double, 1>& rate) const { return rate; }
    template <class V> RILL_FN static void step(std::array<V, 1>& state, const V& g, const std::array<V, 1>& rate) {
        state[0] = state[0] - rate[0] * g;
    }
};

struct gradient_descent_options {
    double learning_rate = 0.01;
};

/// Gradient descent: variable -= learning_rate * gradient. For a gradient by rows (of gather along axis 0), only
/// these rows are updated.
class gradient_descent : public optimizer<gradient_descent, gradient_descent_rule, gradient_descent_options> {
public:
    static constexpr auto scope_name = "gradient_descent";
    using optimizer::optimizer;
};

}} // namespace rill::RILL_ABI
