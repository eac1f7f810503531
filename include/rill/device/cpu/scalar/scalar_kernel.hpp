// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/program.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the kernel of a fusion group over one element, with any number of nodes. It is one loop over calls of block functions, whose
/// operands are in scratch memory. Each number has as many copies as a function processes at a time, so calls need no padding.
kernel scalar_kernel(const fusion_group& group, kernel_request& request);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/scalar/scalar_kernel.ipp>
#endif
