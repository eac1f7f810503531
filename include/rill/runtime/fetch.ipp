// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/fetch.hpp>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE void check_fetched(const dims& promised, const dims& came) {
    if (!rules::compatible(promised, came))
        throw invalid_argument("fetch: a tensor of shape " + to_string(promised) + " came out as " + to_string(came));
}

} // namespace rill::inline RILL_ABI::detail
