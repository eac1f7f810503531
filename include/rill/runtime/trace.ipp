// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/trace.hpp>

#include <cstddef>
#include <iterator>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE int step_trace::position(const std::string& node) const {
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (entries[i].node == node) return static_cast<int>(i);
    return -1;
}

}} // namespace rill::RILL_ABI
