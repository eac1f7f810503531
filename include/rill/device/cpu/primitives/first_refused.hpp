// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <rill/core/dims.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// The unsigned type in which a loop over T collects truth values. It is as wide as T: vectors of a narrower type, such as bool, would have
/// to be packed in each turn.
template <class T>
using loop_flag =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Returns the position of the first element that `accepts` returns false for, or -1.
template <class T, class Accepts> index_t first_refused(const T* x, index_t n, const Accepts& accepts) {
    loop_flag<T> refused = 0; // branch-free, so that it vectorizes
    for (index_t i = 0; i < n; ++i) refused |= static_cast<loop_flag<T>>(!accepts(x[i]));
    return refused ? std::find_if_not(x, x + n, accepts) - x : -1;
}

}}} // namespace rill::RILL_ABI::RILL_ISA
