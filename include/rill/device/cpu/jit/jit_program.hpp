// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <rill/device/block.hpp>
#include <rill/device/cpu/jit/jit_limits.hpp>
#include <rill/device/cpu/jit/jit_loop.hpp>
#include <rill/device/kernel_registry.hpp>

// The JIT compiler: it translates programs to machine code when a node is bound. The code makes one pass over memory, with values in
// registers. It uses the best instructions of the processor, whatever level the C++ code was compiled for. Programs that link
// rill::kernels or include <rill/all_kernels.hpp> have the JIT. In others, kernel_registry::emit is null.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the block function of a program over float32, float64, int32 and int64. `level` is the processor's: 3 (AVX2) or 4 (AVX-512).
/// Returns null if an op has no vector code, or if the numbers have several sizes. Also returns null if a limit is exceeded or the system
/// denies executable memory. Equal programs share one function, which is never freed. Common subexpressions of several nodes are merged
/// after contraction; each node is rounded as if compiled alone. Kernels by the C++ compiler may contract differently: results differ in
/// the last place.
block_function emit_program(const program& p, int level, const program_nodes& nodes = {},
                            const operand_forms& forms = {});

/// Returns the block function of a fusion group over `elements` elements, or null if the precompiled kernel is as good.
block_function emit_fusion_group(const fusion_group& group, std::size_t results, index_t elements,
                                 const operand_forms& forms);

/// Returns true if the JIT can compile an instruction for this processor.
bool is_emitted(const program& p, const program::instruction& i);

/// Returns the block function of a program over single numbers, for this processor. It has no loop. Results must not alias operands.
block_function emit_numbers(const program& p, const program_nodes& nodes, const operand_forms& forms);

inline constexpr code_emitter the_emitter{&emit_fusion_group, &is_emitted, &emit_numbers, &emit_number_loop};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/jit_program.ipp>
#endif
