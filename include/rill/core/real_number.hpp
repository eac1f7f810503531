// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <type_traits>

#include <rill/core/any_array.hpp>
#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// True for the formats that convert to float alone.
template <class T> inline constexpr bool is_narrow_number = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
/// True for the types of real numbers, and bool.
template <class T> inline constexpr bool is_real_number = std::is_arithmetic_v<T> || is_narrow_number<T>;

/// Converts a real number to double.
template <class T>
    requires is_real_number<T>
double as_double(const T& v) {
    if constexpr (is_narrow_number<T>)
        return static_cast<double>(static_cast<float>(v));
    else
        return static_cast<double>(v);
}

/// Returns the value of a number of rank 0, of any real type. Throws invalid_argument for other arrays; `what` names the number.
inline double real_number(const any_array& a, const char* what) {
    double number = 0;
    visit_dtype(a.dtype(), [&]<class T>(std::type_identity<T>) {
        if constexpr (is_real_number<T>)
            number = as_double(a.value<T>());
        else
            throw invalid_argument(std::string(what) + " is " + to_string(a.type()) + ", not a real number");
    });
    return number;
}

}}} // namespace rill::RILL_ABI::detail
