// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/apply_adam.hpp>
#include <rill/train/optimizer.hpp>

namespace rill::inline RILL_ABI {

struct adam_options {
    double learning_rate = 0.001;
    double beta1 = 0.9, beta2 = 0.999;
    double epsilon = 1e-8;
};

/// Adam (Kingma and Ba 2014): steps scaled by running means of the gradient and of its square. Each variable gets the
/// slots m and v; the powers of beta1 and beta2 are variables of the optimizer.
class adam : public optimizer<adam> {
public:
    static constexpr auto scope_name = "adam";

    adam() = default;
    explicit adam(std::floating_point auto learning_rate) {
        options_.learning_rate = static_cast<double>(learning_rate);
    }
    // a template, so that adam({}) is not ambiguous: the defaults
    template <std::same_as<adam_options> Options = adam_options>
    explicit adam(const Options& options) : options_(options) {}

    template <class T> std::vector<operation> update(const std::vector<gradient_and_variable>& pairs) const {
        require_kernel<apply_adam_op, T>();
        require_kernel<assign_op, T>();
        const variable<T> power1("beta1_power", static_cast<T>(options_.beta1), {.trainable = false});
        const variable<T> power2("beta2_power", static_cast<T>(options_.beta2), {.trainable = false});
        const endpoint rate = detail::scalar_constant<T>(options_.learning_rate);
        std::vector<operation> updates;
        for (const auto& [gradient, variable] : pairs) {
            const endpoint m = detail::add_slot(variable, "m", 0), v = detail::add_slot(variable, "v", 0);
            updates.emplace_back(detail::add_node(
                current_graph(), make_op(apply_adam_op{options_.beta1, options_.beta2, options_.epsilon}),
                {variable, m, v, power1.end(), power2.end(), rate, gradient}, "update_" + variable.node()->name));
        }
        // within the step the updates read the powers as they were at its start, whatever the order
        updates.emplace_back(power1.assign(power1 * static_cast<T>(options_.beta1)).node());
        updates.emplace_back(power2.assign(power2 * static_cast<T>(options_.beta2)).node());
        return updates;
    }

private:
    adam_options options_;
};

} // namespace rill::inline RILL_ABI
