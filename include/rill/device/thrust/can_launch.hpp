// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/program.hpp>
#include <rill/device/device.hpp>
#include <rill/device/thrust/launch.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the compiled launch of a fused node's expression; null if there is none.
elementwise_launcher compiled_launch(const device_launchers& device, const fused_spec& spec);

/// Returns true if a device type has launches for a fused node: for its expression or for each of its instructions, and for its reductions.
bool can_launch(const device_type& type, const fused_spec& spec);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/thrust/can_launch.ipp>
#endif
