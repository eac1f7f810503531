// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/host_array.hpp>

#include <rill/core/shape_rules.hpp>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE dims shape_of_flat(index_t count, const dims& wanted) {
    if (!wanted.known_rank()) return dims{count};
    const auto solved = rules::reshape(dims{count}, wanted);
    if (!solved.ok() || !solved.shape.complete())
        throw invalid_argument("host value: " + std::to_string(count) + " elements don't fill the shape " +
                               to_string(wanted) +
                               (wanted.dynamic_extents() > 1 ? " (flat data leaves at most one extent open)" : ""));
    return solved.shape;
}

} // namespace rill::inline RILL_ABI::detail
