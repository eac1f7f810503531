// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/adam.hpp>

namespace rill { inline namespace RILL_ABI {

/// variable -= rate * weight_decay * variable, then a step of Adam.
struct adamw_rule : adam_rule {
    static constexpr auto name = "ApplyAdamW";
    using compiled_types = types::floats;
    double weight_decay = 0.004;

    static void fields(auto& rule, auto& visit) {
        adam_rule::fields(rule, visit);
        visit("weight_decay", rule.weight_decay);
    }
    RILL_FN std::array<double, 5> constants(const std::array<double, 3>& n) const {
        const auto c = adam_rule::constants(n);
        return {c[0], c[1], c[2], c[3], n[2] * weight_decay};
    }
    template <class V> RILL_FN static void step(std::array<V, 3>& s, const V& g, const std::array<V, 5>& c) {
        s[0] = s[0] - c[4] * s[0];
        adam_rule::step(s, g, std::array<V, 4>{c[0], c[1], c[2], c[3]});
    }
};

/// One step of AdamW that updates only the rows of a table that have a gradient: other rows do not decay.
struct lazy_adamw_rule : adamw_rule {
    static constexpr auto name = "ApplyLazyAdamW";
    static constexpr bool by_rows = true;
    using compiled_types = types::floats;
};

struct adamw_options {
    double learning_rate = 0.001;
    double beta1 = 0.9, beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0.004;
    bool lazy = false; // of a table, only rows that have a gradient make a step
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019): each step first subtracts learning_rate * weight_decay of
/// every weight. (TensorFlow's contrib subtracts weight_decay alone. Its Keras subtracts the product, as here.)
class adamw : public optimizer<adamw, adamw_rule, adamw_options> {
public:
    static constexpr auto scope_name = "adamw";
    using optimizer::optimizer;

    adamw_rule rule() const { return {{options().beta1, options().beta2, options().epsilon}, options().weight_decay}; }
    template <class F> void with_rule(const F& f) const {
        if (options().lazy)
            f(lazy_adamw_rule{rule()});
        else
            f(rule());
    }
    template <class T> update_numbers numbers() const {
        return detail::adam_numbers<T>(options().beta1, options().beta2, rate<T>());
    }
};

}} // namespace rill::RILL_ABI
