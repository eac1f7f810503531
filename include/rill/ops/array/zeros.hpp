// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/indices.hpp>
#include <rill/ops/array/stack.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns a constant: zeros<float, 2, 3>(). (Without template arguments, `zeros` is the initializer of variables.)
template <element T, index_t... D> auto zeros(const std::source_location& where = std::source_location::current()) {
    static_assert(has_zero_and_one<T>, "zeros: the element type is not a number");
    static_assert(static_extents<D...>,
                  "zeros: every extent must be known; zeros<T>(dims{...}) takes them at run time");
    return detail::filled_constant<T, D...>(static_cast<T>(0), where);
}
/// Returns zeros of a shape known only at run time: zeros<float>(dims{n, 4}).
template <element T>
any_tensor zeros(const dims& shape, const std::source_location& where = std::source_location::current()) {
    static_assert(has_zero_and_one<T>, "zeros: the element type is not a number");
    return detail::constant_node(detail::filled_array(shape, static_cast<T>(0), where), where);
}
/// Returns zeros of a type and shape known only at run time.
inline any_tensor zeros(dtype type, const dims& shape,
                        const std::source_location& where = std::source_location::current()) {
    return detail::constant_node(detail::filled_array(type, shape, 0), where);
}

/// True if exactly `Count` extents are open.
template <int Count, index_t... D> inline constexpr bool has_open_extents = ((D == dyn ? 1 : 0) + ... + 0) == Count;
/// A type that can be the extent of an axis: a host number, or a tensor of rank 0.
template <class N>
concept extent_argument = host_integer<N> || typed_operand<N>;

namespace detail {

template <class N> constexpr void check_extent_argument() {
    if constexpr (typed_operand<N>)
        static_assert(extents_of<N>::rank == 0 && is_index_type<value_type_of<N>>,
                      "zeros: an extent must be of rank 0, and of int or std::int64_t");
}

/// The element type of a shape: that of the first extent that is a tensor, else std::int64_t.
template <class... N> struct extent_type {
    using type = std::int64_t;
};
template <class First, class... N> struct extent_type<First, N...> : extent_type<N...> {};
template <typed_operand First, class... N> struct extent_type<First, N...> {
    using type = value_type_of<First>;
};

/// Returns zeros, given the open extents of D in order.
template <class T, index_t... D, class... N>
tensor<T, D...> zeros_with(const std::source_location& where, const N&... open) {
    (check_extent_argument<N>(), ...);
    if constexpr ((host_integer<N> && ...)) {
        const std::array<index_t, sizeof...(N)> given{static_cast<index_t>(open)...};
        std::size_t next = 0;
        return {unchecked, zeros<T>(dims{(D == dyn ? given[next++] : D)...}, where)};
    } else {
        using I = typename extent_type<N...>::type;
        const auto one = [&](const auto& n) {
            if constexpr (typed_operand<std::decay_t<decltype(n)>>)
                return tensor<I>(sealed(n));
            else
                return tensor<I>(sealed(constant(static_cast<I>(n), where)));
        };
        const std::array<tensor<I>, sizeof...(N)> given{one(open)...};
        std::size_t next = 0;
        const auto extent = [&](index_t d) { return d == dyn ? given[next++] : one(d); };
        const std::array<tensor<I>, sizeof...(D)> all{extent(D)...}; // in the order of D
        const auto shape = std::apply([&](const auto&... n) { return stack_at<0>(where, n...); }, all);
        return {unchecked, any_tensor(fill(shape, T(0), where))};
    }
}

} // namespace detail

/// Returns zeros with one extent that is open in the type: zeros<float, dyn, 4>(batch). The extent is a number, or a tensor of rank
/// 0, such as shape(x)(0).
template <element T, index_t... D, extent_argument N>
    requires(has_open_extents<1, D...>)
tensor<T, D...> zeros(const N& open, const std::source_location& where = std::source_location::current()) {
    static_assert(has_zero_and_one<T>, "zeros: the element type is not a number");
    return detail::zeros_with<T, D...>(where, open);
}
/// Returns zeros with two open extents: zeros<float, dyn, dyn, 4>(batch, steps).
template <element T, index_t... D, extent_argument N, extent_argument M>
    requires(has_open_extents<2, D...>)
tensor<T, D...> zeros(const N& first, const M& second,
                      const std::source_location& where = std::source_location::current()) {
    static_assert(has_zero_and_one<T>, "zeros: the element type is not a number");
    return detail::zeros_with<T, D...>(where, first, second);
}

}} // namespace rill::RILL_ABI
