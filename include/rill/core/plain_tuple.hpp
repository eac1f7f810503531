// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <rill/config.hpp>

// Values of different types side by side. A replacement for std::tuple, whose constructor checks made up 40 % of the functions
// that a sealed expression instantiated.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// One value of a tuple. The index distinguishes equal types.
template <std::size_t I, class T> struct tuple_place {
    T value;
};

template <class Indices, class... T> struct plain_tuple_of;
template <std::size_t... I, class... T> struct plain_tuple_of<std::index_sequence<I...>, T...> : tuple_place<I, T>... {
    plain_tuple_of() = default;
    RILL_FRONT explicit(sizeof...(T) == 1) plain_tuple_of(const T&... values)
        requires(sizeof...(T) > 0)
        : tuple_place<I, T>{values}... {}
};

/// Values of these types, in order: plain_tuple<int, float>(1, 2.f).
template <class... T> using plain_tuple = plain_tuple_of<std::index_sequence_for<T...>, T...>;

/// Returns value number I; also for std::tuple.
template <std::size_t I, class T> RILL_FN constexpr const T& at(const tuple_place<I, T>& place) { return place.value; }
template <std::size_t I, class T> RILL_FN constexpr T& at(tuple_place<I, T>& place) { return place.value; }
template <std::size_t I, class... T> RILL_FN constexpr const auto& at(const std::tuple<T...>& all) {
    return std::get<I>(all);
}
template <std::size_t I, class... T> RILL_FN constexpr auto& at(std::tuple<T...>& all) { return std::get<I>(all); }

/// The type of value number I.
template <std::size_t I, class Tuple>
using plain_element = std::remove_cvref_t<decltype(at<I>(std::declval<const Tuple&>()))>;

/// Calls f with all values.
template <class F, std::size_t... I, class... T>
constexpr decltype(auto) spread(F&& f, const plain_tuple_of<std::index_sequence<I...>, T...>& all) {
    return f(at<I>(all)...);
}

/// A list of types.
template <class... T> struct type_list {};

template <class... Lists> struct joined_lists;
template <> struct joined_lists<> {
    using type = type_list<>;
};
template <class... A> struct joined_lists<type_list<A...>> {
    using type = type_list<A...>;
};
template <class... A, class... B, class... More> struct joined_lists<type_list<A...>, type_list<B...>, More...> {
    using type = typename joined_lists<type_list<A..., B...>, More...>::type;
};

template <class List> struct tuple_from_list;
template <class... T> struct tuple_from_list<type_list<T...>> {
    using type = plain_tuple<T...>;
};

/// The concatenation of several type lists.
template <class... Lists> using joined = typename joined_lists<Lists...>::type;

/// The tuple of a list's types.
template <class List> using tuple_of_list = typename tuple_from_list<List>::type;

}}} // namespace rill::RILL_ABI::detail
