// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <rill/core/any_array.hpp>
#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the value of a number of rank 0, of any real type. Throws invalid_argument for other arrays; `what` names the number.
inline double real_number(const any_array& a, const char* what) {
    double number = 0;
    visit_dtype(a.dtype(), [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) // narrow formats convert to float alone
            number = static_cast<double>(static_cast<float>(a.value<T>()));
        else if constexpr (std::is_arithmetic_v<T>)
            number = static_cast<double>(a.value<T>());
        else
            throw invalid_argument(std::string(what) + " is " + to_string(a.type()) + ", not a real number");
    });
    return number;
}

}}} // namespace rill::RILL_ABI::detail
