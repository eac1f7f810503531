// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <rill/device/block.hpp>
#include <rill/device/kernel_registry.hpp>

// Programs as machine code, made when a node is bound: one pass over memory with values in registers, for the best processor level
// whatever the program was compiled for. Programs that link rill::kernels or include <rill/all_kernels.hpp> have it; in others the
// pointer that it is reached through is null (kernel_registry::emit).

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Whether there is machine code for this platform.
#if defined(__x86_64__) && defined(__LP64__) && (defined(__unix__) || defined(__APPLE__)) && !defined(__CYGWIN__)
inline constexpr bool emits_programs = true;
#else
inline constexpr bool emits_programs = false;
#endif

/// The block function of a program of floats, for processors of level 3 or 4; null where it holds what there is no code for, or
/// the system does not run what is made at run time. Made once for equal programs, and never freed. What
/// nodes have in common is found after their contractions, so that each is rounded as emitted code would round it alone; what a
/// compiler made of the same node may contract, and compute logarithms, otherwise: they differ in the last place.
block_function emit_program(const program& p, int level, const program_nodes& nodes = {},
                            const operand_forms& forms = {});

/// The nodes of a chain as one program, whose leaves are fused_stages::leaves_of(chain) and whose results the chain's.
program join_links(const fusion_group& chain, std::size_t results, program_nodes* nodes = nullptr);

/// The block function of a chain over so many elements, where that is better than what was compiled for it.
block_function emit_chain(const fusion_group& chain, std::size_t results, index_t elements, const operand_forms& forms);

/// Whether there is code for an instruction, for this processor.
bool is_emitted(const program& p, const program::instruction& i);

/// The block function of a program over single floats, for this processor: no loop, and no operand may lie where a result does.
block_function emit_numbers(const program& p, const program_nodes& nodes, const operand_forms& forms);

inline constexpr code_emitter the_emitter{&emit_chain, &is_emitted, &emit_numbers};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/jit_program.ipp>
#endif
