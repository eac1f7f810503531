// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/sign.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// With p = -learning_rate_power and n' = n + g^2: linear += g - (n'^p - n^p) / rate * variable. If |linear| > l1, variable
/// = (l1 sign(linear) - linear) / (n'^p / rate + 2 l2), else 0. n, the slot accum, = n'.
struct ftrl_rule {
    using compiled_types = types::floats;
    static constexpr auto name = "ApplyFtrl";
    static constexpr std::array<const char*, 2> slots{"accum", "linear"};
    static constexpr int numbers = 1; // the learning rate
    static constexpr bool by_rows = true;
    double learning_rate_power = -0.5, l1 = 0, l2 = 0;

    static void fields(auto& rule, auto& visit) {
        visit("learning_rate_power", rule.learning_rate_power);
        visit("l1", rule.l1);
        visit("l2", rule.l2);
    }
    RILL_FN std::array<double, 4> constants(const std::array<double, 1>& rate) const {
        return {rate[0], -learning_rate_power, l1, 2 * l2};
    }
    template <class V> RILL_FN static void step(std::array<V, 3>& s, const V& g, const std::array<V, 4>& c) {
        const V n = s[1] + g * g;
        const V scale = pow(n, c[1]) / c[0];
        s[2] = s[2] + g - (scale - pow(s[1], c[1]) / c[0]) * s[0];
        s[0] = select(abs(s[2]) > c[2], (c[2] * sign(s[2]) - s[2]) / (scale + c[3]), V(0));
        s[1] = n;
    }
};

struct ftrl_options {
    double learning_rate = 0.001;
    double learning_rate_power = -0.5;      // zero or negative
    double initial_accumulator_value = 0.1; // zero or positive
    double l1_regularization_strength = 0, l2_regularization_strength = 0;
};

/// Follow the regularized leader, by coordinate (McMahan et al. 2013): l1 sets weights to zero. For a gradient by rows (of
/// gather along axis 0), only these rows are updated.
class ftrl : public optimizer<ftrl, ftrl_rule, ftrl_options> {
public:
    static constexpr auto scope_name = "ftrl";
    using optimizer::optimizer;

    ftrl_rule rule() const {
        const auto& o = options();
        if (o.learning_rate_power > 0) throw invalid_argument("ftrl: learning_rate_power must not be positive");
        if (o.l1_regularization_strength < 0 || o.l2_regularization_strength < 0)
            throw invalid_argument(
                "ftrl: l1_regularization_strength and l2_regularization_strength must not be negative");
        return {o.learning_rate_power, o.l1_regularization_strength, o.l2_regularization_strength};
    }
    std::vector<double> slot_values() const {
        if (options().initial_accumulator_value < 0)
            throw invalid_argument("ftrl: initial_accumulator_value must not be negative");
        return {options().initial_accumulator_value};
    }
};

}} // namespace rill::RILL_ABI
