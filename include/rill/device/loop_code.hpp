// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/scalar_loop.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the compiled form of a loop: a function that the program was compiled with, else machine code of the JIT. Its `run` is null if
/// there is neither.
loop_code find_loop_code(const scalar_loop& loop);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/loop_code.ipp>
#endif
