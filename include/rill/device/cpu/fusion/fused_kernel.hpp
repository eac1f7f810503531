// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/program.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a fusion group of a single node.
fusion_group alone(const fused_spec& spec, const kernel_request& request);

/// Binds the kernel of a fused node or fusion group on the CPU; the request's outputs are the group's. The kernel runs block functions
/// over blocks of elements. It materializes broadcast leaves and reduces results block by block.
kernel fused_loops(const fused_spec& spec, kernel_request& request);
kernel fused_loops(const fusion_group& group, kernel_request& request);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/fused_kernel.ipp>
#endif
