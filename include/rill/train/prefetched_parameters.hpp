// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <rill/ops/array/identity.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A variable, its copy at a worker, and the function that refreshes the copy after `updates`.
struct parameter_copy {
    any_tensor variable, copy;
    std::function<operation(const std::vector<const node*>& updates)> refresh;
};

/// Returns the variables that a loss is differentiated by: those of the options, or all trainable ones. Copies replace the variables that
/// have one.
std::vector<any_tensor> with_copies(const std::vector<parameter_copy>& copies, const trained_variables& wanted);
/// Replaces copies in the pairs by their variables.
void use_variables(const std::vector<parameter_copy>& copies, std::vector<gradient_and_variable>& pairs);
/// Returns the nodes of an update that write a variable. Returns all nodes if none is known to write it.
std::vector<const node*> updates_of(const operation& updated, const any_tensor& variable);

} // namespace detail

/// Copies of parameters at a worker. A step computes with the copies and updates the variables at their servers. At its end it gets the new
/// values back. So the next step begins with values that are there: it waits for its servers once instead of twice.
///
///     prefetched_parameters near;
///     const auto loss = reduce_mean(square(near(w) * x + near(b) - y));
///     const operation train = near.minimize(gradient_descent(0.1f), loss, global_step);
///
/// The copies are local variables. local_variables_initializer() gives them their initial values, as monitored sessions do. Updates of
/// other workers during a step become visible in the next step. Tables from which rows are looked up are better used directly.
class prefetched_parameters {
public:
    prefetched_parameters();
    /// Returns the copy of a variable, on the device of the open scope.
    template <class T, index_t... D>
    tensor<T, D...> operator()(const variable<T, D...>& of,
                               const std::source_location& where = std::source_location::current()) {
        for (const auto& c : *copies_)
            if (c.variable.end() == of.end()) return {detail::unchecked, c.copy};
        const graph_scope here(of.graph());
        const name_scope scope("prefetched");
        const tensor<T, D...> first(identity(of, where)); // transferred when the copy is initialised
        const colocate_with beside(first);
        const variable<T, D...> copy(of.node()->name, of.static_shape(), first, {.trainable = false, .local = true},
                                     where);
        copies_->push_back({of, copy, [of, copy, where](const std::vector<const node*>& updates) {
                                const tensor<T, D...> now = [&] {
                                    const colocate_with there(of);
                                    const detail::control_scope after(updates);
                                    return tensor<T, D...>(identity(of, where));
                                }();
                                return operation(copy.assign(now, where).node());
                            }});
        return {detail::unchecked, any_tensor(copy)};
    }

    /// Returns the operation of a step. It computes the gradients of a loss by the copies, and by other trainable variables that the loss
    /// depends on. It updates the variables, and refreshes the copies. Variables are float32 or float64.
    template <class Optimizer, graph_operand Loss>
    operation minimize(const Optimizer& by, const Loss& loss, const minimize_options& how = {},
                       const std::source_location& where = std::source_location::current()) const {
        auto pairs = by.compute_gradients(loss, detail::with_copies(*copies_, how.variables), where);
        detail::use_variables(*copies_, pairs);
        const operation updated = [&] {
            if constexpr (requires { by.apply_gradients(pairs, how.step, where); }) // it increments the counter
                return by.apply_gradients(pairs, how.step, where);
            else
                return detail::counted(by.apply_gradients(pairs, where), how.step, where);
        }();
        const graph_scope here(updated.graph());
        std::vector<operation> all{updated};
        for (const auto& c : *copies_) all.push_back(c.refresh(detail::updates_of(updated, c.variable)));
        return group(all, "train", where);
    }
    template <class Optimizer, graph_operand Loss, class Step>
    operation minimize(const Optimizer& by, const Loss& loss, const variable<Step>& global_step,
                       const std::source_location& where = std::source_location::current()) const {
        return minimize(by, loss, minimize_options{.step = global_step}, where);
    }

private:
    std::shared_ptr<std::vector<detail::parameter_copy>> copies_; // copies of this object share it
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/prefetched_parameters.ipp>
#endif
