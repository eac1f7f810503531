// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <rill/core/program.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/lane.hpp>
#include <rill/device/structure.hpp>

namespace rill { inline namespace RILL_ABI {

/// The arguments of a scalar loop: a whole while loop over scalars, compiled into one function.
struct compiled_loop_args {
    struct expression {
        const void* const* leaves;   // one per occurrence; null for an occurrence of a state value
        const scalar_value* scalars; // one per occurrence
    };
    const expression* expressions; // the condition, then the next value of each state value
    void* const* state;
    std::int64_t most; // iteration limit; -1: unlimited
    const step_context* step;
};

/// A compiled scalar loop: updates `state` in place and returns the number of iterations.
using compiled_loop = std::int64_t (*)(const compiled_loop_args&);

namespace detail {

/// An expression of a loop: its structure, and for each leaf occurrence the index of its state value, or -1.
template <class S, int... Part> struct loop_expression {
    using structure_type = S;
    using value_type = typename S::value_type;
};

inline namespace RILL_ISA {

/// A loop-invariant operand, held in a register for the whole loop.
template <class L> using loop_invariant = lane<L>;

template <class... L, std::size_t... I>
RILL_FN auto loop_invariant_leaves(const compiled_loop_args::expression& e, type_list<L...>,
                                   std::index_sequence<I...>) {
    return plain_tuple<loop_invariant<L>...>(e.leaves[I] ? loop_invariant<L>(*static_cast<const L*>(e.leaves[I]))
                                                         : loop_invariant<L>()...);
}
template <class... L, std::size_t... I>
RILL_FORCE_INLINE auto loop_invariant_scalars(const compiled_loop_args::expression& e, type_list<L...>,
                                              std::index_sequence<I...>) {
    return plain_tuple<loop_invariant<L>...>(loop_invariant<L>(e.scalars[I].template as<L>())...);
}
template <class... T> std::index_sequence_for<T...> numbers_of(type_list<T...>) { return {}; }

template <int Part, std::size_t Leaf, class State, class Leaves>
RILL_FN auto loop_leaf_value(const State& state, const Leaves& leaves) {
    if constexpr (Part >= 0)
        return at<Part>(state);
    else
        return at<Leaf>(leaves);
}

/// An evaluator of a loop's expression for a given state.
template <class E> struct loop_evaluator;
template <class S, int... Part> struct loop_evaluator<loop_expression<S, Part...>> {
    using leaf_types = typename element_lists<S>::leaves;
    using scalar_types = typename element_lists<S>::scalars;
    decltype(loop_invariant_leaves(std::declval<compiled_loop_args::expression>(), leaf_types(),
                                   numbers_of(leaf_types()))) leaves;
    decltype(loop_invariant_scalars(std::declval<compiled_loop_args::expression>(), scalar_types(),
                                    numbers_of(scalar_types()))) scalars;

    RILL_FORCE_INLINE explicit loop_evaluator(const compiled_loop_args::expression& e)
        : leaves(loop_invariant_leaves(e, leaf_types(), numbers_of(leaf_types()))),
          scalars(loop_invariant_scalars(e, scalar_types(), numbers_of(scalar_types()))) {}

    template <class State> RILL_FN auto operator()(const State& state) const {
        return go(state, std::make_index_sequence<sizeof...(Part)>{}, leaf_types());
    }

private:
    template <class State, std::size_t... I, class... L>
    RILL_FN auto go(const State& state, std::index_sequence<I...>, type_list<L...>) const {
        return evaluator<S, 0, 0>::value(plain_tuple<lane<L>...>(loop_leaf_value<Part, I>(state, leaves)...), scalars)
            .v;
    }
};

template <class Condition, class... Next> std::int64_t run_compiled_loop(const compiled_loop_args& a) {
    constexpr std::int64_t between = 1024; // iterations between checks for cancellation
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        const loop_evaluator<Condition> condition(a.expressions[0]);
        const plain_tuple<loop_evaluator<Next>...> next(loop_evaluator<Next>{a.expressions[I + 1]}...);
        plain_tuple<lane<typename Next::value_type>...> state(
            lane<typename Next::value_type>{*static_cast<const typename Next::value_type*>(a.state[I])}...);
        std::int64_t left = a.most;
        while (left != 0 && condition(state)) {
            // Compute all next values from the old state before any of it changes.
            state = plain_tuple<lane<typename Next::value_type>...>(
                lane<typename Next::value_type>{static_cast<typename Next::value_type>(at<I>(next)(state))}...);
            if (--left % between == 0 && a.step) a.step->check();
        }
        ((*static_cast<typename Next::value_type*>(a.state[I]) = at<I>(state).v), ...);
        return a.most - left;
    }(std::index_sequence_for<Next...>{});
}

} // namespace RILL_ISA

} // namespace detail

}} // namespace rill::RILL_ABI
