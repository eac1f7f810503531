// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/group.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/state/variable.hpp>

namespace rill::inline RILL_ABI {

/// A variable and the gradient of the loss by it.
struct gradient_and_variable {
    any_tensor gradient, variable;
};

namespace detail {

/// The gradients of a loss by variables, or by all trainable ones, as far as it depends on them.
std::vector<gradient_and_variable> gradients_by_variables(const endpoint& loss, std::vector<any_tensor> variables);

/// Refuses variables of another type than the loss.
void check_pairs(const std::vector<gradient_and_variable>& pairs, dtype loss);

} // namespace detail

/// Base of the optimizers. A derived class has `update<T>(gradients)`: it adds its nodes and returns the last operations.
template <class Self> class optimizer {
public:
    /// An operation that computes the gradients of a loss by every trainable variable it depends on, and updates them.
    template <typed_operand Loss>
    operation minimize(const Loss& loss, const std::source_location& where = std::source_location::current()) const {
        return apply_gradients<value_type_of<Loss>>(compute_gradients(loss), where);
    }
    /// Also adds one to a step counter, last.
    template <typed_operand Loss, class Step>
    operation minimize(const Loss& loss, const variable<Step>& global_step,
                       const std::source_location& where = std::source_location::current()) const {
        static_assert(is_integral<Step>, "minimize: global_step must be an integer variable of rank 0");
        const operation updates = minimize(loss, where);
        const graph_scope here(updates.graph());
        const control_dependencies after(updates);
        return group(operation(global_step.assign_add(Step(1)).node()));
    }

    /// The first half of minimize: gradients by the given variables, or by all trainable ones. Those that the loss does
    /// not depend on are left out.
    template <typed_operand Loss>
    std::vector<gradient_and_variable> compute_gradients(const Loss& loss,
                                                         std::vector<any_tensor> variables = {}) const {
        static_assert(is_differentiable(dtype_of<value_type_of<Loss>>), "minimize: the loss must be floating");
        static_assert(extents_of<Loss>::rank == 0,
                      "minimize: the loss must be of rank 0; reduce it (reduce_mean, reduce_sum)");
        detail::require_gradient_kernels<value_type_of<Loss>>();
        return detail::gradients_by_variables(detail::seal(loss), std::move(variables));
    }

    /// The second half: updates the variables by their gradients, once all of these are known.
    template <class T>
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs,
                              const std::source_location& where = std::source_location::current()) const {
        detail::check_pairs(pairs, dtype_of<T>);
        const graph_scope here(pairs.at(0).variable.graph());
        const name_scope scope(Self::scope_name);
        return group(static_cast<const Self*>(this)->template update<T>(pairs), "train", where);
    }
};

namespace detail {

/// A constant of rank 0.
template <class T> endpoint scalar_constant(double value) {
    return constant(static_cast<T>(value)).join(current_graph());
}

/// A variable beside another one, of its type: an optimizer's memory. Not trained.
endpoint add_slot(const any_tensor& of, const std::string& name, double first_value);

} // namespace detail

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/train/optimizer.ipp>
#endif
