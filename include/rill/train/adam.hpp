// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// One step of Adam (Kingma and Ba 2014, in TensorFlow's form: epsilon outside the bias correction).
struct adam_rule {
    using compiled_types = types::floats;
    static constexpr auto name = "ApplyAdam";
    static constexpr std::array<const char*, 2> slots{"m", "v"};
    static constexpr int numbers = 3; // the powers of beta1 and beta2, the learning rate
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

    static void fields(auto& rule, auto& visit) {
        visit("beta1", rule.beta1);
        visit("beta2", rule.beta2);
        visit("epsilon", rule.epsilon);
    }
    RILL_FN std::array<double, 4> constants(const std::array<double, 3>& n) const {
        return {n[2] * std::sqrt(1 - n[1]) / (1 - n[0]), 1 - beta1, 1 - beta2, epsilon};
    }
    template <class V> RILL_FN static void step(std::array<V, 3>& s, const V& g, const std::array<V, 4>& c) {
        s[1] = s[1] + c[1] * (g - s[1]);
        s[2] = s[2] + c[2] * (g * g - s[2]);
        s[0] = s[0] - c[0] * s[1] / (sqrt(s[2]) + c[3]);
    }
};

/// One step of Adam that updates only the rows of a table that have a gradient: the moments of other rows stay.
struct lazy_adam_rule : adam_rule {
    static constexpr auto name = "ApplyLazyAdam";
    static constexpr bool by_rows = true;
    using compiled_types = types::floats;
};

namespace detail {

/// Returns the numbers of Adam and its variants: the powers of beta1 and beta2, as variables of the optimizer, and the rate.
template <class T> update_numbers adam_numbers(double beta1, double beta2, const endpoint& rate) {
    const variable<T> power1("beta1_power", static_cast<T>(beta1), {.trainable = false});
    const variable<T> power2("beta2_power", static_cast<T>(beta2), {.trainable = false});
    // within the step the updates read the powers as they were at its start, in any order
    return {{power1.end(), power2.end(), rate}, [=](std::vector<operation>& last) {
                last.emplace_back(power1.assign(power1 * static_cast<T>(beta1)).node());
                last.emplace_back(power2.assign(power2 * static_cast<T>(beta2)).node());
            }};
}

} // namespace detail

struct adam_options {
    double learning_rate = 0.001;
    double beta1 = 0.9, beta2 = 0.999;
    double epsilon = 1e-8;
    bool lazy = false;
};

/// Adam (Kingma and Ba 2014): steps scaled by running means of the gradient and of its square. Each variable gets the slots m and
/// v. The powers of beta1 and beta2 are variables of the optimizer. By default every row of a table makes a step, as in TensorFlow:
/// m and v of all rows decay. With `lazy`, as in TensorFlow's LazyAdam, only rows that have a gradient make a step, which costs
/// less.
class adam : public optimizer<adam, adam_rule, adam_options> {
public:
    static constexpr auto scope_name = "adam";
    using optimizer::optimizer;

    adam_rule rule() const { return {options().beta1, options().beta2, options().epsilon}; }
    template <class F> void with_rule(const F& f) const {
        if (options().lazy)
            f(lazy_adam_rule{rule()});
        else
            f(rule());
    }
    template <class T> update_numbers numbers() const {
        return detail::adam_numbers<T>(options().beta1, options().beta2, rate<T>());
    }
};

}} // namespace rill::RILL_ABI
