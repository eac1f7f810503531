// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <rill/device/cpu/jit/jit_ir.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Bytes: a thread may have little, and its end is guarded by a page that longer steps pass over.
inline constexpr int most_emitted_stack = 16 * 1024;

/// Machine code of a block function: a loop over registers of 8 floats (AVX2 and FMA) or 16 (AVX-512), then the same once more for
/// the lanes that are left. The code is finished. Leaves are read before any result of the same elements is written, so that results
/// may take their place. Of results that are summed it writes one number: each first, second, third and fourth register has a sum, the
/// lanes that are left count to the fourth. Empty where values that find no register would need more than `most_emitted_stack`.
std::vector<std::uint8_t> x86_loop(const jit_ir& code);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/x86_codegen.ipp>
#endif
