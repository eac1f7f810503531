// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// rms += (1 - decay) (g^2 - rms); momentum = momentum_factor * momentum + rate * g / sqrt(rms + epsilon); variable -= momentum.
struct rmsprop_rule {
    using compiled_types = types::floats;
    static constexpr auto name = "ApplyRMSProp";
    static constexpr std::array<const char*, 2> slots{"rms", "momentum"};
    static constexpr int numbers = 1; // the learning rate
    static constexpr bool by_rows = true;
    double decay = 0.9, momentum = 0, epsilon = 1e-10;

    static void fields(auto& rule, auto& visit) {
        visit("decay", rule.decay);
        visit("momentum", rule.momentum);
        visit("epsilon", rule.epsilon);
    }
    RILL_FN std::array<double, 4> constants(const std::array<double, 1>& rate) const {
        return {rate[0], 1 - decay, momentum, epsilon};
    }
    template <class V> RILL_FN static void step(std::array<V, 3>& s, const V& g, const std::array<V, 4>& c) {
        s[1] = s[1] + c[1] * (g * g - s[1]);
        s[2] = c[2] * s[2] + c[0] * g / sqrt(s[1] + c[3]);
        s[0] = s[0] - s[2];
    }
};

/// The rule of centered RMSProp, which divides by the root of the variance. The variance is rms minus the square of a running
/// mean of g, the slot mg.
struct centered_rmsprop_rule : rmsprop_rule {
    using compiled_types = types::floats;
    static constexpr auto name = "ApplyCenteredRMSProp";
    static constexpr std::array<const char*, 3> slots{"rms", "momentum", "mg"};

    template <class V> RILL_FN static void step(std::array<V, 4>& s, const V& g, const std::array<V, 4>& c) {
        s[1] = s[1] + c[1] * (g * g - s[1]);
        s[3] = s[3] + c[1] * (g - s[3]);
        s[2] = c[2] * s[2] + c[0] * g / sqrt(max(s[1] - s[3] * s[3], V(0)) + c[3]); // rounding may go below 0
        s[0] = s[0] - s[2];
    }
};

struct rmsprop_options {
    double learning_rate = 0.001;
    double decay = 0.9;
    double momentum = 0;
    double epsilon = 1e-10;
    bool centered = false;
};

/// RMSProp (Tieleman and Hinton 2012): divides steps by the root of a running mean of the squared gradient, which starts with
/// one. epsilon is inside the root. For a gradient by rows (of gather along axis 0), only these rows are updated.
class rmsprop : public optimizer<rmsprop, rmsprop_rule, rmsprop_options> {
public:
    static constexpr auto scope_name = "rmsprop";
    using optimizer::optimizer;

    rmsprop_rule rule() const { return {options().decay, options().momentum, options().epsilon}; }
    template <class F> void with_rule(const F& f) const {
        if (options().centered)
            f(centered_rmsprop_rule{rule()});
        else
            f(rule());
    }
    std::vector<double> slot_values() const { return {1}; }
};

}} // namespace rill::RILL_ABI
