// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <rill/device/cpu/jit/jit_ir.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The most bytes of stack in generated code. Threads may have small stacks, and a larger frame could step over the guard page.
inline constexpr int most_jit_stack = 16 * 1024;

/// Returns the machine code of a block function, written by xbyak. Empty without xbyak, or if spilled values exceed `most_jit_stack`.
/// `code` must be finished. The loop uses registers of 32 bytes (AVX2 and FMA) or 64 (AVX-512), of floats or doubles; a masked pass follows
/// for the remaining lanes. Leaves are read before results of the same elements are written, so results may alias leaves (except with
/// `one_element`). A summed result is written as one number. Its four partial sums take the registers in turn; the remaining lanes go to
/// the fourth. Code with a `loop` becomes a compiled_loop instead, with its state in registers.
std::vector<std::uint8_t> x86_loop(const jit_ir& code);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/x86_codegen.ipp>
#endif
