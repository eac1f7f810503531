// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/kernel.hpp>
#include <rill/device/scalar_loop.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The kernel of a loop over numbers: as scalar_kernel, but that its operands' addresses are worked out once a run, and that what an
/// iteration computes for the next one is written where that reads it. No error can come from what it computes.
kernel scalar_loop_kernel(const scalar_loop& loop, kernel_request& request);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/scalar/scalar_loop_kernel.ipp>
#endif
