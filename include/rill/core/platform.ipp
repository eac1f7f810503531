// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/platform.hpp>

#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace rill::inline RILL_ABI::detail {

RILL_INLINE int usable_processors() {
#if defined(__linux__)
    cpu_set_t set; // the C++ library counts processors this process may not run on
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
    const unsigned all = std::thread::hardware_concurrency();
    return all == 0 ? 1 : static_cast<int>(all);
}

} // namespace rill::inline RILL_ABI::detail
