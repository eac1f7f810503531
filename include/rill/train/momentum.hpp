// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// velocity = momentum * velocity + g; variable -= rate * velocity, or, with Nesterov's look-ahead, rate * (g + momentum *
/// velocity).
struct momentum_rule {
    using compiled_types = types::floats;
    static constexpr auto name = "ApplyMomentum";
    static constexpr std::array<const char*, 1> slots{"momentum"};
    static constexpr int numbers = 1; // the learning rate
    static constexpr bool by_rows = true;
    double momentum = 0.9;
    bool nesterov = false;

    static void fields(auto& rule, auto& visit) {
        visit("momentum", rule.momentum);
        visit("nesterov", rule.nesterov);
    }
    RILL_FN std::array<double, 3> constants(const std::array<double, 1>& rate) const {
        return {rate[0], momentum, nesterov ? 1. : 0.};
    }
    template <class V> RILL_FN static void step(std::array<V, 2>& s, const V& g, const std::array<V, 3>& c) {
        s[1] = c[1] * s[1] + g;
        s[0] = s[0] - c[0] * select(c[2] > V(0), g + c[1] * s[1], s[1]);
    }
};

struct momentum_options {
    double learning_rate = 0.01;
    double momentum = 0.9;
    bool nesterov = false; // Sutskever et al. 2013
};

/// Gradient descent with momentum: velocity = momentum * velocity + gradient, variable -= learning_rate * velocity. For a
/// gradient by rows (of gather along axis 0), only these rows and their velocities are updated.
class momentum : public optimizer<momentum, momentum_rule, momentum_options> {
public:
    static constexpr auto scope_name = "momentum";
    using optimizer::optimizer;

    momentum_rule rule() const { return {options().momentum, options().nesterov}; }
};

}} // namespace rill::RILL_ABI
