// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/config.hpp>

// The one place where operating systems differ.

namespace rill::inline RILL_ABI::detail {

/// Processors that this process may use: all of the machine, or those its affinity mask or container leaves it. At least 1.
int usable_processors();

} // namespace rill::inline RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/platform.ipp>
#endif
