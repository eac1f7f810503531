// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <ranges>
#include <tuple>
#include <type_traits>

namespace test_far {

#ifdef RILL_TEST_ROUNDS // the device adds up in another order than the CPU, and its elementary functions round differently
template <class T> inline constexpr double tolerance = sizeof(T) == 8 ? 1e-11 : 2e-5;
#else
template <class T> inline constexpr double tolerance = 0;
#endif

/// Returns true if a value of the device is the CPU's: bit for bit, or, where the device rounds differently, nearly.
template <class T> bool same(const T& got, const T& wanted) {
    if constexpr (std::is_floating_point_v<T>) {
        return got == wanted || (std::isnan(got) && std::isnan(wanted)) ||
               std::abs(got - wanted) <= tolerance<T> * std::max(1., double(std::abs(wanted)));
    } else if constexpr (std::is_arithmetic_v<T>) {
        return got == wanted;
    } else if constexpr (std::ranges::range<T>) {
        return std::ranges::equal(got, wanted, [](const auto& a, const auto& b) { return same(a, b); });
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return (same(std::get<K>(got), std::get<K>(wanted)) && ...);
        }(std::make_index_sequence<std::tuple_size_v<T>>());
    } else {
        return got == wanted;
    }
}

} // namespace test_far
