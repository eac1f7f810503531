// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/fill.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <class T> any_array linspace_array(T start, T stop, index_t n, const std::source_location& where) {
    static_assert(is_real_floating<T>, "linspace: the element type must be floating");
    if (n < 1) throw invalid_argument("linspace: the number of values must be 1 or more" + at_place(where));
    any_array all(dtype_of<T>, dims{n});
    auto* to = static_cast<T*>(all.mutable_data());
    using C = compute_type<T>;
    const C from = static_cast<C>(start), end = static_cast<C>(stop), way = end - from,
            last = static_cast<C>(std::max<index_t>(n - 1, 1));
    const bool finite = way - way == C(0); // false if the distance overflows
    for (index_t i = 0; i < n; ++i) {
        const C part = static_cast<C>(i);
        to[i] = static_cast<T>(finite ? from + way / last * part : from * (1 - part / last) + end * (part / last));
    }
    if (n > 1) to[n - 1] = stop; // exact, despite rounding
    return all;
}

template <index_t N> inline constexpr bool is_number_of_values = N >= 1;

} // namespace detail

/// Returns a constant with evenly spaced values: linspace<5>(0.f, 1.f) is 0, 0.25, 0.5, 0.75, 1. The first and the last
/// value are exact.
template <index_t N, element T>
auto linspace(const T& start, const T& stop, const std::source_location& where = std::source_location::current()) {
    static_assert(detail::is_number_of_values<N>, "linspace: the number of values must be 1 or more");
    return constant_value<T, N>(detail::linspace_array(start, stop, N, where), where);
}
/// Returns a number of values known only at run time.
template <element T>
auto linspace(const T& start, const T& stop, index_t n,
              const std::source_location& where = std::source_location::current()) {
    return constant_value<T, dyn>(detail::linspace_array(start, stop, n, where), where);
}

}} // namespace rill::RILL_ABI
