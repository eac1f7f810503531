// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/constant.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// How many steps of delta lie in [start, limit).
template <class T> index_t range_size(T start, T limit, T delta) {
    if (!(delta > 0 || delta < 0)) throw invalid_argument("range: the step must not be 0");
    if (delta > 0 ? !(start <= limit) : !(start >= limit))
        throw invalid_argument("range: the step leads away from the limit");
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>; // differences of extreme numbers don't overflow
        const auto distance = [](T a, T b) { return static_cast<U>(static_cast<U>(b) - static_cast<U>(a)); };
        const auto way = static_cast<std::uint64_t>(delta > 0 ? distance(start, limit) : distance(limit, start));
        const auto step = static_cast<std::uint64_t>(delta > 0 ? static_cast<U>(delta)
                                                               : static_cast<U>(U(0) - static_cast<U>(delta)));
        return static_cast<index_t>(way / step + (way % step != 0));
    } else {
        const double n =
            std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
        if (!(n < 1e15)) throw invalid_argument("range: too many steps");
        return static_cast<index_t>(n);
    }
}

} // namespace detail

/// range(0, 10, 2): 0, 2, 4, 6, 8, a constant; the limit is not reached. A step of 1 may be left out.
template <element T>
auto range(const T& start, const T& limit, const T& delta = T(1),
           const std::source_location& where = std::source_location::current()) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>,
                  "range: the element type must be an integer, float or double");
    const index_t n = detail::range_size(start, limit, delta);
    any_array all(dtype_of<T>, dims{n});
    auto* to = static_cast<T*>(all.mutable_data());
    for (index_t i = 0; i < n; ++i) {
        if constexpr (std::is_integral_v<T>) {
            using U = std::make_unsigned_t<T>;
            to[i] = static_cast<T>(static_cast<U>(start) +
                                   static_cast<U>(static_cast<std::uint64_t>(i) * static_cast<U>(delta)));
        } else {
            to[i] = static_cast<T>(static_cast<double>(start) + static_cast<double>(i) * static_cast<double>(delta));
        }
    }
    return constant_value<T, dyn>(std::move(all), where);
}
/// range(5): 0, 1, 2, 3, 4.
template <element T> auto range(const T& limit, const std::source_location& where = std::source_location::current()) {
    return range(T(0), limit, T(1), where);
}

}} // namespace rill::RILL_ABI
