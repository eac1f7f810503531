// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// The type of extents and element counts.
using index_t = std::int64_t;

/// An extent known only at run time.
inline constexpr index_t dyn = -1;

inline constexpr int max_rank = 8;

}} // namespace rill::RILL_ABI
