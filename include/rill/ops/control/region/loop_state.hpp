// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/compiled_loop_of.hpp>
#include <rill/ops/control/region/body.hpp>

// The types of a loop's state and of its body's results.

namespace rill { inline namespace RILL_ABI {

/// True if a part of a loop's state keeps its element type and extents: compare the first value with the body's result.
template <class State, class Next> inline constexpr bool state_keeps_its_type = false;
template <class T, index_t... S, index_t... N>
    requires(sizeof...(S) == sizeof...(N))
inline constexpr bool state_keeps_its_type<tensor<T, S...>, tensor<T, N...>> = ((S == N || S == dyn) && ...);
template <class Next> inline constexpr bool state_keeps_its_type<any_tensor, Next> = true;
template <class T, index_t... S> inline constexpr bool state_keeps_its_type<tensor<T, S...>, any_tensor> = true;

namespace detail {

/// Returns true if two structures are built alike. With `Types`, the parts must also keep their types.
template <bool Types, class State, class Next> constexpr bool stands_for() {
    if constexpr (is_list<State> && is_list<Next>) {
        return stands_for<Types, typename State::value_type, typename Next::value_type>();
    } else if constexpr (is_tuple<State> && is_tuple<Next>) {
        if constexpr (std::tuple_size_v<State> == std::tuple_size_v<Next>)
            return []<std::size_t... I>(std::index_sequence<I...>) {
                return (stands_for<Types, std::tuple_element_t<I, State>, std::tuple_element_t<I, Next>>() && ...);
            }(std::make_index_sequence<std::tuple_size_v<State>>{});
        else
            return false;
    } else if constexpr (is_list<State> || is_tuple<State> || is_list<Next> || is_tuple<Next>) {
        return false;
    } else {
        return !Types || state_keeps_its_type<State, Next>;
    }
}

} // namespace detail

/// True if the next state is built as the state is: tuple for tuple, vector for vector.
template <class State, class Next> inline constexpr bool is_built_as = detail::stands_for<false, State, Next>();
/// True if, in addition, each part keeps its element type and extents.
template <class State, class Next>
inline constexpr bool parts_keep_their_types = detail::stands_for<true, State, Next>();

namespace detail {

/// The type of a part of the state, as condition and body take it. A number of rank 0 knows its index, unless parts are structures.
template <int Part, class H> struct loop_part_of {
    using type = H;
};
template <int Part, class T>
    requires std::is_arithmetic_v<T>
struct loop_part_of<Part, tensor<T>> {
    using type = loop_part<Part, T>;
};
template <class States, class Numbers> struct loop_parts_of;
template <class... H, std::size_t... I> struct loop_parts_of<std::tuple<H...>, std::index_sequence<I...>> {
    using type = std::tuple<typename loop_part_of<static_cast<int>(I), H>::type...>;
};
template <class States>
using loop_parts =
    typename std::conditional_t<handle_count<States> == std::tuple_size_v<States>,
                                loop_parts_of<States, std::make_index_sequence<std::tuple_size_v<States>>>,
                                std::type_identity<States>>::type;

/// Returns the type of part i of a loop's state, given the type of the body's result. Throws invalid_argument if the two do not fit.
tensor_type next_type(const known_inputs& in, std::size_t i, const tensor_type& given);

/// Returns the types of a loop's state. Extents that are dyn in a handle's type may change, even if the first value's are known.
template <class States>
std::vector<tensor_type> state_types(const std::vector<endpoint>& first, std::span<const std::size_t> lists = {}) {
    std::vector<tensor_type> types;
    visit_leaves(handle_reader(first, lists).read<States>(), [&]<class H>(const H& part) {
        if constexpr (typed_operand<H>)
            types.push_back(static_type<H>);
        else
            types.push_back(type_of(part.end()));
    });
    return types;
}

/// Calls a body with handles to its arguments, checks its result against the state, and returns the endpoints.
template <class States, class Handles = States, class F>
std::vector<endpoint> next_state(const F& f, const std::vector<endpoint>& arguments, const graph& g) {
    const auto given = std::apply([&](const auto&... state) { return f(state...); }, handles<Handles>(arguments));
    using G = handle_type<decltype(given)>;
    using next = std::conditional_t<is_built_as<States, G>, G, std::tuple<G>>;
    static_assert(is_built_as<States, next>, "the body of a loop gives every part of the state, as a tuple");
    if constexpr (is_built_as<States, next>)
        static_assert(parts_keep_their_types<States, next>,
                      "the body of a loop gives a part of the state another element type or shape");
    return results_of(given, g);
}

/// Returns a handle for one tensor, or a tuple of several.
template <class States> auto as_result(const std::vector<endpoint>& ends) {
    if constexpr (std::tuple_size_v<States> == 1)
        return handles<std::tuple_element_t<0, States>>(ends);
    else
        return handles<States>(ends);
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE tensor_type detail::next_type(const known_inputs& in, std::size_t i, const tensor_type& given) {
    const auto& part = in.arguments.empty() ? in.types[i] : in.arguments[i];
    if (part.type == given.type && rules::compatible(part.shape, given.shape)) return part;
    throw invalid_argument(
        "part " + std::to_string(i) + " of the state is " + to_string(part) + ", the body gives " + to_string(given) +
        (part.type == given.type ? ": what may change must be dyn, in the type of the first value" : ""));
}

}} // namespace rill::RILL_ABI
#endif
