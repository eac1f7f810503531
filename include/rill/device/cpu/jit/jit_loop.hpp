// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/scalar_loop.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the machine code of a loop over numbers: float, double, int32, int64 and bool, of one size or several. `level` is the
/// processor's. Its `run` is null if an op has no vector code, if a limit is exceeded, or if the system denies executable memory. Equal
/// loops share one function, which is never freed. Each node is rounded as if compiled alone.
loop_code emit_loop(const scalar_loop& loop, int level);

/// The same for this processor.
loop_code emit_number_loop(const scalar_loop& loop);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/jit_loop.ipp>
#endif
