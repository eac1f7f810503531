// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/ops/control/group.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/train/hyperparameter.hpp>
#include <rill/train/update_op.hpp>
#include <rill/train/update_rows_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// A variable and the gradient of the loss with respect to it.
struct gradient_and_variable {
    any_tensor gradient, variable;
};

/// The variables that a loss is differentiated by: the given ones, or all trainable ones.
class trained_variables {
public:
    trained_variables() = default;
    trained_variables(std::vector<any_tensor> given) : given_(std::move(given)) {} // NOLINT: as a list
    trained_variables(std::initializer_list<any_tensor> given) : trained_variables(std::vector(given)) {} // NOLINT

    const std::optional<std::vector<any_tensor>>& given() const noexcept { return given_; }

private:
    std::optional<std::vector<any_tensor>> given_;
};

/// A counter of steps: an integer variable of rank 0.
class step_counter {
public:
    step_counter() = default;                                                               // none
    template <class Step> step_counter(const variable<Step>& counter) : counter_(counter) { // NOLINT: is one
        static_assert(is_integral<Step>, "minimize: global_step must be an integer variable of rank 0");
        require_kernel<assign_add_op, void>();
        require_primitive<assign_add_op::joins, Step, Step>();
    }
    /// Takes a counter of a loaded graph, say: an int32 or int64.
    template <std::same_as<any_tensor> V> step_counter(const V& counter) : counter_(counter) { // NOLINT
        require_kernel<assign_add_op, void>();
        require_primitive<assign_add_op::joins, std::int32_t, std::int32_t>();
        require_primitive<assign_add_op::joins, std::int64_t, std::int64_t>();
    }

    const any_tensor& variable_handle() const noexcept { return counter_; }

private:
    any_tensor counter_;
};

/// The options of minimize: minimize(loss, {.variables = trainable_variables("generator"), .step = global_step}).
struct minimize_options {
    trained_variables variables = {}; // empty: all trainable ones that the loss depends on
    step_counter step = {};           // incremented after the updates of each step
    bool colocate = false;            // puts gradients on the devices of the differentiated nodes
};

/// The numbers of an optimizer's rule, of rank 0, and the work that remains after all variables are updated.
struct update_numbers {
    std::vector<endpoint> values;
    std::function<void(std::vector<operation>&)> finish = {};
};

namespace detail {

/// Returns the gradients of a loss by variables, or by all trainable ones. Leaves out variables that the loss does not depend
/// on.
std::vector<gradient_and_variable> gradients_by_variables(const endpoint& loss, const minimize_options& how,
                                                          const std::source_location& where);

/// Adds an operation that runs the updates and then increments the counter, if there is one.
operation counted(const operation& updates, const step_counter& step, const std::source_location& where);

/// Returns the pairs that have a gradient. Throws if there are none, or for a variable of a type that the optimizer is not
/// compiled for.
std::vector<gradient_and_variable> checked_pairs(const std::vector<gradient_and_variable>& pairs,
                                                 std::initializer_list<dtype> types, const std::source_location& where);

/// Throws for a loss that has no gradients. Throws for a dtype that optimizers compile only for losses of that static type.
void check_untyped_loss(const endpoint& loss);

/// Returns the gradients of a loss that minimize applies, and compiles their kernels.
template <graph_operand Loss>
std::vector<gradient_and_variable> gradients_of(const Loss& loss, const minimize_options& how,
                                                const std::source_location& where) {
    if constexpr (typed_operand<Loss>) {
        static_assert(is_differentiable(dtype_of<value_type_of<Loss>>), "minimize: the loss must be floating");
        static_assert(extents_of<Loss>::rank == 0,
                      "minimize: the loss must be of rank 0; reduce it (reduce_mean, reduce_sum)");
        require_gradient_kernels<value_type_of<Loss>>();
    } else {
        if (is_null(loss)) refuse_null("minimize", where);
        check_untyped_loss(loss.end());
        require_gradient_kernels<float>();
        require_gradient_kernels<double>();
    }
    return gradients_by_variables(seal(loss), how, where);
}

/// The short forms of minimize(loss, options). Self has that form as `minimize_by`.
template <class Self> class minimizer {
public:
    /// Adds an operation that computes the gradients of a loss by every trainable variable it depends on, and updates them. An
    /// any_tensor must be float32 or float64.
    template <graph_operand Loss>
    operation minimize(const Loss& loss, const std::source_location& where = std::source_location::current()) const {
        return self().minimize_by(loss, minimize_options(), where);
    }
    /// Increments a step counter after each update as well.
    template <graph_operand Loss, class Step>
    operation minimize(const Loss& loss, const variable<Step>& global_step,
                       const std::source_location& where = std::source_location::current()) const {
        return self().minimize_by(loss, minimize_options{.step = global_step}, where);
    }
    /// Takes options, such as the variables to train.
    template <graph_operand Loss>
    operation minimize(const Loss& loss, const minimize_options& how,
                       const std::source_location& where = std::source_location::current()) const {
        return self().minimize_by(loss, how, where);
    }

private:
    const Self& self() const { return static_cast<const Self&>(*this); }
};

/// Adds a constant of rank 0.
template <class T> endpoint scalar_constant(double value) {
    return constant(static_cast<T>(value), {}).join(current_graph()); // without the user's source location
}

/// Adds a slot, an optimizer's variable beside another one, of that one's type. It is not trainable; every element has the same
/// initial value.
endpoint add_slot(const any_tensor& of, const std::string& name, double first_value);

/// Adds the update of one variable. `values` come after the numbers. Slots without an initial value start with zero.
operation add_update(op_ptr op, const gradient_and_variable& pair, std::span<const char* const> slots,
                     std::span<const double> first_values, const std::vector<endpoint>& numbers,
                     std::initializer_list<endpoint> values);

} // namespace detail

/// The options of an optimizer have other names.
template <class Optimizer, class Options> inline constexpr bool is_called = false;

namespace detail {

/// A struct that catches {.lr = rate, …}, which would otherwise match no constructor. It matches no other braces: `lr` has no
/// default.
struct misnamed_rate {
    struct any_number {
        template <class N> any_number(const N&) {} // NOLINT
    };
    any_number lr;
    double momentum = 0, beta1 = 0, beta2 = 0, rho = 0, decay = 0, epsilon = 0, weight_decay = 0;
};

} // namespace detail

/// The base of the optimizers: everything but a rule (see update_op.hpp) and options. Self has a `scope_name`. It may define its
/// `rule()`, or `with_rule(f)` if there are several rules. It may define the `slot_values()` that its slots start with; the
/// default is zero. It may define the `numbers<T>()` of its rule; the default is the learning rate.
template <class Self, class Rule, class Options> class optimizer : public detail::minimizer<Self> {
public:
    optimizer() = default;
    template <class Rate>
        requires(std::is_arithmetic_v<Rate> && !std::is_same_v<Rate, bool>)
    explicit optimizer(Rate learning_rate) {
        options_.learning_rate = static_cast<double>(learning_rate);
    }
    // a template, so that adam({}) is not ambiguous: the defaults
    template <std::same_as<Options> Given = Options> explicit optimizer(const Given& options) : options_(options) {}
    /// Rejects adam({.lr = 0.1f}).
    template <std::same_as<detail::misnamed_rate> Given = detail::misnamed_rate> explicit optimizer(const Given&) {
        static_assert(is_called<Self, Given>,
                      "optimizer: the rate is called learning_rate: adam({.learning_rate = 0.001f})");
    }
    /// Takes a rate that the graph computes (a schedule's, a placeholder) in place of the options': adam(exponential_decay(…)).
    template <graph_operand Rate>
    explicit optimizer(const Rate& rate, const Options& options = {}) : options_(options), rate_(rate) {}

    const Options& options() const noexcept { return options_; }

    /// Computes the gradients of a loss, and updates the variables by them: the long form of minimize.
    template <graph_operand Loss>
    operation minimize_by(const Loss& loss, const minimize_options& how, const std::source_location& where) const {
        const auto pairs = detail::gradients_of(loss, how, where);
        if constexpr (typed_operand<Loss>)
            return detail::counted(apply_gradients<value_type_of<Loss>>(pairs, where), how.step, where);
        else
            return detail::counted(apply_gradients(pairs, where), how.step, where);
    }

    /// Returns the gradients by the given variables, or by all trainable ones: the first half of minimize. Leaves out variables
    /// that the loss does not depend on.
    template <graph_operand Loss>
    std::vector<gradient_and_variable>
    compute_gradients(const Loss& loss, std::vector<any_tensor> variables = {},
                      const std::source_location& where = std::source_location::current()) const {
        minimize_options how;
        if (!variables.empty()) how.variables = std::move(variables);
        return detail::gradients_of(loss, how, where);
    }

    /// Updates the variables by their gradients, once all of these are known: the second half of minimize. Pairs without a
    /// gradient are left out. Variables are float32 or float64, or of the named type: apply_gradients<half>(pairs).
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs,
                              const std::source_location& where = std::source_location::current()) const {
        return apply<float, double>(pairs, where);
    }
    template <class T>
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs,
                              const std::source_location& where = std::source_location::current()) const {
        return apply<T>(pairs, where);
    }
    /// Increments a step counter at the end as well.
    template <class Step>
    operation apply_gradients(const std::vector<gradient_and_variable>& pairs, const variable<Step>& global_step,
                              const std::source_location& where = std::source_location::current()) const {
        return detail::counted(apply_gradients(pairs, where), global_step, where);
    }

    /// Returns the default rule of a Self that defines none.
    Rule rule() const { return {}; }
    template <class F> void with_rule(const F& f) const { f(self().rule()); }
    std::vector<double> slot_values() const { return {}; }
    template <class T> update_numbers numbers() const { return {{rate<T>()}}; }

    /// Returns the learning rate as a tensor: the given one, or a constant.
    template <class T> endpoint rate() const {
        return rate_ ? rate_.as(dtype_of<T>) : detail::scalar_constant<T>(options_.learning_rate);
    }

private:
    const Self& self() const { return static_cast<const Self&>(*this); }

    template <class... T>
    operation apply(const std::vector<gradient_and_variable>& pairs, const std::source_location& where) const {
        const auto given = detail::checked_pairs(pairs, {dtype_of<T>...}, where); // at least one
        const graph_scope here(given[0].variable.graph());
        const name_scope scope(Self::scope_name);
        std::vector<operation> updates;
        (update<T>(given, updates), ...);
        return group(updates, "train", where);
    }
    /// Adds the updates of the variables of one type.
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

    Options options_;
    hyperparameter rate_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/optimizer.ipp>
#endif
