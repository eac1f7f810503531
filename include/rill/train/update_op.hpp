// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include <rill/core/allocator.hpp>
#include <rill/expr/node_op.hpp>

// The update of a variable by its gradient, shared by all optimizers. A rule defines each optimizer:
//
//     struct gradient_descent_rule {
//         static constexpr auto name = "ApplyGradientDescent";
//         static constexpr std::array<const char*, 0> slots{};            // variables beside the variable, of its shape
//         static constexpr int numbers = 1; // tensors of rank 0 that a run reads: the learning rate, and what else
//         RILL_FN std::array<double, 1> constants(const std::array<double, 1>& numbers) const { return numbers; }
//         template <class V> RILL_FN static void step(std::array<V, 1>& state, const V& g, const std::array<V, 1>& c) {
//             state[0] = state[0] - c[0] * g;
//         }
//     };
//
// The device evaluates `constants` once a run, in double. `step` gets them rounded to the element type.
//
// Optional members:
//
//     static void fields(auto& rule, auto& visit);   // its numbers that don't change, as ops do
//     static constexpr bool by_rows = true;          // where the gradient is rows of a table, only these make a step
//     static constexpr bool adds_up = true;          // two steps are one by the sum of their gradients

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Checks that input 0, the slots after it and the gradient have one dtype and shape. Returns the types of the outputs.
std::vector<tensor_type> update_outputs(std::span<const tensor_type> in, int slots, int numbers);

/// A rule's step, as the device's primitive calls it.
template <class Rule> struct rule_step {
    template <class V, std::size_t S, std::size_t C>
    RILL_FN static void run(std::array<V, S>& state, const std::array<V, 1>& g, const std::array<V, C>& c) {
        Rule::step(state, g[0], c);
    }
};

/// The compiled types of a rule, as those of an op: rill::kernels includes the rules that have some.
template <class Rule> struct compiled_types_of_rule {
    using type = type_set<>;
};
template <class Rule>
    requires(is_own<Rule> && requires { typename Rule::compiled_types; })
struct compiled_types_of_rule<Rule> {
    using type = typename Rule::compiled_types;
};
template <class Rule> using rule_compiled_types = typename compiled_types_of_rule<Rule>::type;

/// A rule's constants as a function of its numbers, as the device's primitive calls it.
template <class Rule> struct rule_constants {
    using numbers = std::array<double, static_cast<std::size_t>(Rule::numbers)>;
    using result = decltype(std::declval<const Rule&>().constants(std::declval<const numbers&>()));
    static constexpr std::size_t count = std::tuple_size_v<result>;
    Rule rule;

    RILL_FN result operator()(const numbers& all) const { return rule.constants(all); }
};

} // namespace detail

/// One step of an optimizer, in one pass over variable, slots and gradient. Inputs: the variable, its slots, the numbers, the
/// gradient. Output: the variable.
template <class Rule> struct update_op {
    static constexpr auto name = Rule::name;
    using domain_type = domains::real_floating;
    using compiled_types = detail::rule_compiled_types<Rule>;
    static constexpr auto no_gradient = "a write has none; differentiate by the variable's uses";
    static constexpr bool stateful = true, replaces_variables = true;
    static constexpr int alias = 0;
    static constexpr int slots = static_cast<int>(Rule::slots.size()), first_number = 1 + slots,
                         gradient_at = first_number + Rule::numbers, inputs = gradient_at + 1;
    Rule rule;

    static void fields(auto& op, auto& visit) {
        if constexpr (requires { Rule::fields(op.rule, visit); }) Rule::fields(op.rule, visit);
    }
    input_list writes() const {
        input_list all;
        for (int i = 0; i <= slots; ++i) all.push_back(i);
        return all;
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        return detail::update_outputs(in, slots, Rule::numbers);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const index_t n = request.inputs[0].shape.size();
        request.scratch_bytes = scratch_of_constants<T>;
        request.shared = request.on.pool && n >= update_shared_from;
        return kernel([=, rule = rule](const kernel_args& a) {
            const auto constants = compute_constants<D, T>(rule, a);
            D::template update<detail::rule_step<Rule>>(a.on, n, old_state<T>(a), state<T>(a),
                                                        std::array{a.template in<T>(gradient_at)}, constants);
        });
    }
    /// Makes the device compute the rule's constants from the numbers of this run, at the beginning of the scratch memory.
    template <class D, class T> static auto compute_constants(const Rule& rule, const kernel_args& a) {
        std::array<const T*, static_cast<std::size_t>(Rule::numbers)> numbers;
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = a.template in<T>(first_number + static_cast<int>(i));
        T* const to = a.template scratch<T>();
        D::compute_scalars(a.on, detail::rule_constants<Rule>{rule}, numbers, to);
        return update_constants<T, detail::rule_constants<Rule>::count>{to};
    }
    template <class T>
    static constexpr std::size_t scratch_of_constants =
        detail::aligned_size(detail::rule_constants<Rule>::count * sizeof(T));
    /// Returns the old values of the variable and its slots.
    template <class T> static std::array<const T*, 1 + slots> old_state(const kernel_args& a) {
        std::array<const T*, 1 + slots> all;
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = a.template variable_was<T>(static_cast<int>(i));
        return all;
    }
    /// Returns the variable and its slots, for writing.
    template <class T> static std::array<T*, 1 + slots> state(const kernel_args& a) {
        std::array<T*, 1 + slots> all;
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = a.template variable<T>(static_cast<int>(i));
        return all;
    }
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/update_op.ipp>
#endif
