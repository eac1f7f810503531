// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/block.hpp>
#include <rill/device/scalar_loop.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Fused nodes over one element, as a list of calls. They call the functions that the nodes would run alone, so results are equal to the
/// last bit. An interpreted node becomes one call per instruction. Equal calls are merged, and calls without readers are removed.
struct scalar_code {
    enum class home : std::uint8_t { input, constant, computed };
    struct value {
        home where = home::computed;
        std::uint32_t number = 0; // index of the input or the constant
        dtype type = dtype::invalid;
        int lanes = 0; // the number of adjacent copies; 0: it has no reader

        std::size_t element() const { return size_of(type); } // bytes
    };
    struct call {
        block_function run = nullptr;
        int lanes = 1; // elements per step; each operand has as many equal copies
        std::uint32_t first_operand = 0, first_scalar = 0, first_mask = 0;
        std::uint32_t reads = 0, writes = 0; // counts of operands; those read come first
        // the instruction that it computes, if the JIT may merge it; valid while the fusion group lives
        const program* of = nullptr;
        std::uint32_t instruction = 0, node = 0;
    };
    /// An input of a loop that changes in each iteration.
    struct loop_carried_value {
        int value, next; // next is none for slices, which come from an operand
    };
    static constexpr int none = -1; // a result without readers

    vector<value> values;
    vector<call> calls;
    std::vector<int> operands; // values, or none
    std::vector<std::uint32_t> scalars, masks;
    vector<scalar_value> constants; // `scalars` and values hold indices into it
    std::vector<int> results;       // per output of the fusion group: its value
    bool may_divide = false;        // a call may divide integers by zero
    bool repeats = false;           // a loop: inputs that are not carried are loop-invariant
    std::vector<loop_carried_value> carried;
};

/// Builds the scalar code of a fusion group. Time and memory grow with the number of nodes and of their instructions.
scalar_code make_scalar_code(const fusion_group& group, std::size_t results);

/// Builds the scalar code of a loop. Its results are the condition (if any), the next state, the stacked outputs and the current state.
scalar_code make_scalar_code(const scalar_loop& loop);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/scalar/scalar_code.ipp>
#endif
