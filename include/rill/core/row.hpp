// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <rill/config.hpp>

// Values of different types side by side. What std::tuple does too, but its constructors check much: it was four in ten of the
// functions that a sealed expression instantiated.

namespace rill::inline RILL_ABI::detail {

/// The place of one value: equal types differ by index.
template <std::size_t I, class T> struct row_place {
    T value;
};

template <class Indices, class... T> struct row_of;
template <std::size_t... I, class... T> struct row_of<std::index_sequence<I...>, T...> : row_place<I, T>... {
    row_of() = default;
    RILL_FN constexpr explicit(sizeof...(T) == 1) row_of(const T&... values)
        requires(sizeof...(T) > 0)
        : row_place<I, T>{values}... {}
};

/// Values of these types, in order: row<int, float>(1, 2.f).
template <class... T> using row = row_of<std::index_sequence_for<T...>, T...>;

/// The value number I, also of a std::tuple.
template <std::size_t I, class T> RILL_FN constexpr const T& at(const row_place<I, T>& place) { return place.value; }
template <std::size_t I, class T> RILL_FN constexpr T& at(row_place<I, T>& place) { return place.value; }
template <std::size_t I, class... T> RILL_FN constexpr const auto& at(const std::tuple<T...>& all) {
    return std::get<I>(all);
}
template <std::size_t I, class... T> RILL_FN constexpr auto& at(std::tuple<T...>& all) { return std::get<I>(all); }

/// The type of the value number I.
template <std::size_t I, class Row>
using row_element = std::remove_cvref_t<decltype(at<I>(std::declval<const Row&>()))>;

/// f of all values.
template <class F, std::size_t... I, class... T>
constexpr decltype(auto) spread(F&& f, const row_of<std::index_sequence<I...>, T...>& all) {
    return f(at<I>(all)...);
}

/// Types in order.
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

template <class List> struct row_from_list;
template <class... T> struct row_from_list<type_list<T...>> {
    using type = row<T...>;
};

/// The types of several lists.
template <class... Lists> using joined = typename joined_lists<Lists...>::type;

/// A row of the types of a list.
template <class List> using row_of_list = typename row_from_list<List>::type;

} // namespace rill::inline RILL_ABI::detail
