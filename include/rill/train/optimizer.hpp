// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>

#include <rill/ops/control/group.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/train/update_op.hpp>
#include <rill/train/update_rows_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// A variable and the gradient of the loss by it.
struct gradient_and_variable {
    any_tensor gradient, variable;
};

/// The numbers that an optimizer's rule takes, of rank 0, and what is still to be done when every variable is updated.
struct update_numbers {
    std::vector<endpoint> values;
    std::function<void(std::vector<operation>&)> finish = {};
};

namespace detail {

/// The gradients of a loss by variables, or by all trainable ones, as far as it depends on them.
std::vector<gradient_and_variable> gradients_by_variables(const endpoint& loss, std::vector<any_tensor> variables);

/// Refuses variables of another type than the loss.
void check_pairs(const std::vector<gradient_and_variable>& pairs, dtype loss);

/// Refuses a loss that has no gradients, or whose dtype optimizers are not compiled for unless its type says so.
void check_untyped_loss(const endpoint& loss);

/// What a loss is computed in, as a type: f(std::type_identity<T>()).
template <class Loss, class F> auto with_type_of(const Loss& loss, const F& f) {
    if constexpr (typed_operand<Loss>) {
        return f(std::type_identity<value_type_of<Loss>>());
    } else {
        check_untyped_loss(checked(loss.end()));
        return loss.dtype() == dtype::float64 ? f(std::type_identity<double>()) : f(std::type_identity<float>());
    }
}

/// A constant of rank 0.
template <class T> endpoint scalar_constant(double value) {
    return constant(static_cast<T>(value), {}).join(current_graph()); // no place of the user's
}

/// A variable beside another one, of its type: an optimizer's memory. Zero at first, not trained.
endpoint add_slot(const any_tensor& of, const std::string& name);

/// The slices and ids that a gradient adds up, if it is that of gather along axis 0.
struct gradient_rows {
    endpoint slices, ids;
    explicit operator bool() const { return bool(slices); }
};
gradient_rows rows_of(const endpoint& gradient);

/// Adds the update of one variable; `values` come after the numbers.
operation add_update(op_ptr op, const gradient_and_variable& pair, std::span<const char* const> slots,
                     const std::vector<endpoint>& numbers, std::initializer_list<endpoint> values);

} // namespace detail

/// Base of the optimizers: what they share beside a rule (see update_op.hpp) and options. Self has a `scope_name`, and may say
/// what its `rule()` is and which `numbers<T>()` it takes, if that is more than the learning rate.
template <class Self, class Rule, class Options> class optimizer {
public:
    optimizer() = default;
    explicit optimizer(std::floating_point auto learning_rate) {
        options_.learning_rate = static_cast<double>(learning_rate);
    }
    // a template, so that adam({}) is not ambiguous: the defaults
    template <std::same_as<Options> Given = Options> explicit optimizer(const Given& options) : options_(options) {}

    const Options& options() const noexcept { return options_; }

    /// An operation that computes the gradients of a loss by every trainable variable it depends on, and updates them. Of
    /// an any_tensor: float32 or float64.
    template <graph_operand Loss>
    operation minimize(const Loss& loss, const std::source_location& where = std::source_location::current()) const {
        return detail::with_type_of(
            loss, [&]<class T>(std::type_identity<T>) { return apply_gradients<T>(compute_gradients(loss), where); });
    }
    /// Also adds one to a step counter, last.
    template <graph_operand Loss, class Step>
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
    template <graph_operand Loss>
    std::vector<gradient_and_variable> compute_gradients(const Loss& loss,
                                                         std::vector<any_tensor> variables = {}) const {
        if constexpr (typed_operand<Loss>) {
            static_assert(is_differentiable(dtype_of<value_type_of<Loss>>), "minimize: the loss must be floating");
            static_assert(extents_of<Loss>::rank == 0,
                          "minimize: the loss must be of rank 0; reduce it (reduce_mean, reduce_sum)");
            detail::require_gradient_kernels<value_type_of<Loss>>();
        } else {
            detail::check_untyped_loss(detail::checked(loss.end()));
            detail::require_gradient_kernels<float>();
            detail::require_gradient_kernels<double>();
        }
        return detail::gradients_by_variables(detail::seal(loss), std::move(variables));
    }

    /// The second half: updates the variables by their gradients, once all of these are known.
    template <class T>
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs,
                              const std::source_location& where = std::source_location::current()) const {
        detail::check_pairs(pairs, dtype_of<T>); // there is one at least
        const graph_scope here(pairs.at(0).variable.graph());
        const name_scope scope(Self::scope_name);
        return group(update<T>(pairs), "train", where);
    }

    /// What a Self that says nothing of its own uses.
    Rule rule() const { return {}; }
    template <class T> update_numbers numbers() const { return {{detail::scalar_constant<T>(options_.learning_rate)}}; }

private:
    template <class T> std::vector<operation> update(const std::vector<gradient_and_variable>& pairs) const {
        require_kernel<update_op<Rule>, T>();
        const auto& self = static_cast<const Self&>(*this);
        const auto numbers = self.template numbers<T>();
        std::vector<operation> updates;
        for (const auto& pair : pairs) {
            if constexpr (requires { Rule::by_rows; })
                if (const auto rows = detail::rows_of(pair.gradient)) {
                    require_kernel<update_rows_op<Rule>, T>();
                    updates.push_back(detail::add_update(make_op(update_rows_op<Rule>{self.rule()}), pair, Rule::slots,
                                                         numbers.values, {rows.slices, rows.ids}));
                    continue;
                }
            updates.push_back(detail::add_update(make_op(update_op<Rule>{self.rule()}), pair, Rule::slots,
                                                 numbers.values, {pair.gradient}));
        }
        if (numbers.finish) numbers.finish(updates);
        return updates;
    }

    Options options_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/optimizer.ipp>
#endif
