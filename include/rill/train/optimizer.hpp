// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/ops/control/group.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/train/step_number.hpp>
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
std::vector<gradient_and_variable> gradients_by_variables(const endpoint& loss, std::vector<any_tensor> variables,
                                                          const std::source_location& where);

/// The pairs that have a gradient; refuses none at all, and variables of other types than the optimizer is compiled for.
std::vector<gradient_and_variable> checked_pairs(const std::vector<gradient_and_variable>& pairs,
                                                 std::initializer_list<dtype> types, const std::source_location& where);

/// Refuses a loss that has no gradients, or whose dtype optimizers are not compiled for unless its type says so.
void check_untyped_loss(const endpoint& loss);

/// A constant of rank 0.
template <class T> endpoint scalar_constant(double value) {
    return constant(static_cast<T>(value), {}).join(current_graph()); // no place of the user's
}

/// A variable beside another one, of its type: an optimizer's memory. Not trained; every element has the same first value.
endpoint add_slot(const any_tensor& of, const std::string& name, double first_value);

/// Adds the update of one variable; `values` come after the numbers. Slots without a first value start with zero.
operation add_update(op_ptr op, const gradient_and_variable& pair, std::span<const char* const> slots,
                     std::span<const double> first_values, const std::vector<endpoint>& numbers,
                     std::initializer_list<endpoint> values);

} // namespace detail

/// Base of the optimizers: what they share beside a rule (see update_op.hpp) and options. Self has a `scope_name`, and may say
/// what its `rule()` is (or, of several rules, `with_rule(f)`), which `slot_values()` its slots start with if not with zero, and
/// which `numbers<T>()` it takes, if that is more than the learning rate.
template <class Self, class Rule, class Options> class optimizer {
public:
    optimizer() = default;
    explicit optimizer(std::floating_point auto learning_rate) {
        options_.learning_rate = static_cast<double>(learning_rate);
    }
    // a template, so that adam({}) is not ambiguous: the defaults
    template <std::same_as<Options> Given = Options> explicit optimizer(const Given& options) : options_(options) {}
    /// A rate that the graph computes (a schedule's, a placeholder) in place of the options': adam(exponential_decay(…)).
    template <graph_operand Rate>
    explicit optimizer(const Rate& rate, const Options& options = {}) : options_(options), rate_(rate) {}

    const Options& options() const noexcept { return options_; }

    /// An operation that computes the gradients of a loss by every trainable variable it depends on, and updates them. Of
    /// an any_tensor: float32 or float64.
    template <graph_operand Loss>
    operation minimize(const Loss& loss, const std::source_location& where = std::source_location::current()) const {
        const auto pairs = compute_gradients(loss, {}, where);
        if constexpr (typed_operand<Loss>)
            return apply_gradients<value_type_of<Loss>>(pairs, where);
        else
            return apply_gradients(pairs, where);
    }
    /// Also adds one to a step counter, last.
    template <graph_operand Loss, class Step>
    operation minimize(const Loss& loss, const variable<Step>& global_step,
                       const std::source_location& where = std::source_location::current()) const {
        return counted(minimize(loss, where), global_step);
    }

    /// The first half of minimize: gradients by the given variables, or by all trainable ones. Those that the loss does
    /// not depend on are left out.
    template <graph_operand Loss>
    std::vector<gradient_and_variable>
    compute_gradients(const Loss& loss, std::vector<any_tensor> variables = {},
                      const std::source_location& where = std::source_location::current()) const {
        if constexpr (typed_operand<Loss>) {
            static_assert(is_differentiable(dtype_of<value_type_of<Loss>>), "minimize: the loss must be floating");
            static_assert(extents_of<Loss>::rank == 0,
                          "minimize: the loss must be of rank 0; reduce it (reduce_mean, reduce_sum)");
            detail::require_gradient_kernels<value_type_of<Loss>>();
        } else {
            if (detail::is_null(loss)) detail::refuse_null("minimize", where);
            detail::check_untyped_loss(loss.end());
            detail::require_gradient_kernels<float>();
            detail::require_gradient_kernels<double>();
        }
        return detail::gradients_by_variables(detail::seal(loss), std::move(variables), where);
    }

    /// The second half: updates the variables by their gradients, once all of these are known. Pairs without a gradient are
    /// left out. Variables are float32 or float64, or of the type that is named: apply_gradients<half>(pairs).
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs,
                              const std::source_location& where = std::source_location::current()) const {
        return apply<float, double>(pairs, where);
    }
    template <class T>
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs,
                              const std::source_location& where = std::source_location::current()) const {
        return apply<T>(pairs, where);
    }
    /// Also adds one to a step counter, last.
    template <class Step>
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs, const variable<Step>& global_step,
                              const std::source_location& where = std::source_location::current()) const {
        return counted(apply_gradients(pairs, where), global_step);
    }

    /// What a Self that says nothing of its own uses.
    Rule rule() const { return {}; }
    template <class F> void with_rule(const F& f) const { f(self().rule()); }
    std::vector<double> slot_values() const { return {}; }
    template <class T> update_numbers numbers() const { return {{rate<T>()}}; }

    /// The learning rate as a tensor: the one that was given, or a constant.
    template <class T> endpoint rate() const {
        return rate_ ? rate_.as(dtype_of<T>) : detail::scalar_constant<T>(options_.learning_rate);
    }

private:
    const Self& self() const { return static_cast<const Self&>(*this); }

    template <class... T>
    operation apply(const std::vector<gradient_and_variable>& pairs, const std::source_location& where) const {
        const auto given = detail::checked_pairs(pairs, {dtype_of<T>...}, where); // there is one at least
        const graph_scope here(given[0].variable.graph());
        const name_scope scope(Self::scope_name);
        std::vector<operation> updates;
        (update<T>(given, updates), ...);
        return group(updates, "train", where);
    }
    /// The variables of one type.
    template <class T>
    void update(const std::vector<gradient_and_variable>& pairs, std::vector<operation>& updates) const {
        self().with_rule([&]<class R>(const R& rule) {
            require_kernel<update_op<R>, T>();
            if constexpr (requires { R::by_rows; }) require_kernel<update_rows_op<R>, T>();
            update_numbers numbers;
            const auto first_values = self().slot_values();
            const auto add = [&](op_ptr op, const gradient_and_variable& pair, std::initializer_list<endpoint> values) {
                if (numbers.values.empty()) numbers = self().template numbers<T>();
                updates.push_back(
                    detail::add_update(std::move(op), pair, R::slots, first_values, numbers.values, values));
            };
            for (const auto& pair : pairs) {
                if (pair.variable.dtype() != dtype_of<T>) continue;
                if constexpr (requires { R::by_rows; })
                    if (const auto rows = detail::rows_of(pair.gradient)) {
                        add(make_op(update_rows_op<R>{rule}), pair, {rows.slices, rows.ids});
                        continue;
                    }
                add(make_op(update_op<R>{rule}), pair, {pair.gradient});
            }
            if (numbers.finish) numbers.finish(updates);
        });
    }
    template <class Step> static operation counted(const operation& updates, const variable<Step>& global_step) {
        static_assert(is_integral<Step>, "minimize: global_step must be an integer variable of rank 0");
        const graph_scope here(updates.graph());
        const detail::control_scope after{updates.node()};
        return group(operation(global_step.assign_add(Step(1)).node()));
    }

    Options options_;
    step_number rate_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/optimizer.ipp>
#endif
