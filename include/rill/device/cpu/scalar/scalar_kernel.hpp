// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/program.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The kernel of fused nodes over one element, any number of them: one loop over calls of block functions, whose operands are in
/// scratch memory. A number is there as often as a function works on elements at a time, so that none is padded.
kernel scalar_kernel(const fusion_group& chain, kernel_request& request);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/scalar/scalar_kernel.ipp>
#endif
