// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/device/lane.hpp>
#include <rill/device/structure.hpp>

namespace rill { inline namespace RILL_ABI {

/// The arguments of one call of a compiled loop: a loop over numbers in one function.
struct compiled_loop_args {
    const void* const* operand; // addresses of loop-invariant numbers; null where an expression reads the state
    void* const* state;         // per state value
    const void* const* slice;   // per slice operand: the slice of the call's first iteration
    void* const* stacked;       // per stacked output: the place for the call's first iteration
    std::int64_t most;          // iteration limit of the call
};

/// A compiled loop. It updates `state` in place and returns the number of iterations that ran. A number below `most` means that the
/// condition became false.
using compiled_loop = std::int64_t (*)(const compiled_loop_args&);

namespace detail {

/// Returns the key of an expression, followed by the state values that its leaves are; -1: a loop-invariant value.
std::string loop_key(const std::string& expression, std::span<const int> parts);

/// Returns the joined key of all expressions of a loop.
std::string joined_loop_key(const std::vector<std::string>& expressions);

/// An expression of a loop: its structure, and for each leaf occurrence the index of its state value, or -1.
template <class S, int... Part> struct loop_expression {
    using structure_type = S;
    using value_type = typename S::value_type;
};

template <class... T> constexpr std::size_t count_of(type_list<T...>) { return sizeof...(T); }

/// The number of operands of an expression: its leaf occurrences, then its scalars.
template <class E>
inline constexpr std::size_t loop_operands = count_of(typename element_lists<typename E::structure_type>::leaves()) +
                                             count_of(typename element_lists<typename E::structure_type>::scalars());

/// Returns the position of the first operand of each expression among those of all.
template <class... E> constexpr auto first_loop_operands() {
    std::array<std::size_t, sizeof...(E)> all{loop_operands<E>...};
    std::size_t next = 0;
    for (auto& first : all) first = std::exchange(next, next + first);
    return all;
}

inline namespace RILL_ISA {

/// A loop-invariant operand, held in a register for the whole loop.
template <class L> using loop_invariant = lane<L>;

template <class... L, std::size_t... I>
RILL_FN auto loop_invariants(const void* const* operand, type_list<L...>, std::index_sequence<I...>) {
    return plain_tuple<loop_invariant<L>...>(operand[I] ? loop_invariant<L>(*static_cast<const L*>(operand[I]))
                                                        : loop_invariant<L>()...);
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
    template <class Types>
    using invariants =
        decltype(loop_invariants(static_cast<const void* const*>(nullptr), Types(), numbers_of(Types())));
    invariants<leaf_types> leaves;
    invariants<scalar_types> scalars;

    RILL_FORCE_INLINE explicit loop_evaluator(const void* const* operand)
        : leaves(loop_invariants(operand, leaf_types(), numbers_of(leaf_types()))),
          scalars(loop_invariants(operand + count_of(leaf_types()), scalar_types(), numbers_of(scalar_types()))) {}

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
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        constexpr auto first = first_loop_operands<Condition, Next...>();
        const loop_evaluator<Condition> condition(a.operand);
        const plain_tuple<loop_evaluator<Next>...> next(loop_evaluator<Next>{a.operand + first[I + 1]}...);
        plain_tuple<lane<typename Next::value_type>...> state(
            lane<typename Next::value_type>{*static_cast<const typename Next::value_type*>(a.state[I])}...);
        std::int64_t left = a.most;
        for (; left != 0 && condition(state); --left)
            // Compute all next values from the old state before any of it changes.
            state = plain_tuple<lane<typename Next::value_type>...>(
                lane<typename Next::value_type>{static_cast<typename Next::value_type>(at<I>(next)(state))}...);
        ((*static_cast<typename Next::value_type*>(a.state[I]) = at<I>(state).v), ...);
        return a.most - left;
    }(std::index_sequence_for<Next...>{});
}

} // namespace RILL_ISA

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/compiled_loop.ipp>
#endif
