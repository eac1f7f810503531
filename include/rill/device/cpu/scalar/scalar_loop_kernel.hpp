// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/kernel.hpp>
#include <rill/device/scalar_loop.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the kernel of a loop over numbers. It runs the loop's compiled form if there is one. Otherwise it calls the functions of single
/// nodes, as scalar_kernel does. Addresses of operands are then computed once per run. Next values are written where the next iteration
/// reads them. The loop must contain no integer division: the kernel does not report errors.
kernel scalar_loop_kernel(const scalar_loop& loop, kernel_request& request);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/scalar/scalar_loop_kernel.ipp>
#endif
