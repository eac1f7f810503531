// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include <rill/core/error.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Gives every item a device of this process: the one its node asks for, that of the variables it writes, else `otherwise`.
/// What a node asks for must exist, unless `soft` lets it run on the CPU. Text is the CPU's. `report` hears of every placement.
subgraph place(subgraph g, bool soft, const std::function<void(const node&, const std::string&)>& report,
               const device_type& otherwise = default_device());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/place.ipp>
#endif
