// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <rill/core/dims.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Returns the position of the first element that `accepts` returns false for, or -1.
template <class T, class Accepts> index_t first_refused(const T* x, index_t n, const Accepts& accepts) {
    bool all = true; // branch-free, so that it vectorizes
    for (index_t i = 0; i < n; ++i) all &= accepts(x[i]);
    return all ? -1 : std::find_if_not(x, x + n, accepts) - x;
}

}}} // namespace rill::RILL_ABI::RILL_ISA
