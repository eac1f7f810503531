// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include <rill/core/error.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Gives every item a device of this process: that of the variables it writes, else the one that its node requests, else `otherwise`.
/// Ops on strings and region ops go to the CPU. Throws invalid_argument for a device that does not exist, unless `soft` allows the CPU
/// instead. Calls `report` for each placement, except those of region ops.
subgraph place(subgraph g, bool soft, const std::function<void(const node&, const std::string&)>& report,
               const device_type& default_device = rill::default_device());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/place.ipp>
#endif
