// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/block.hpp>
#include <rill/device/scalar_loop.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Fused nodes over one element as a list of calls: of the functions that the nodes would run one by one, so that the numbers are
/// the same to the last bit. A node that is interpreted is a call for each instruction. What would be computed twice is there once,
/// what nobody needs is not there.
struct scalar_code {
    enum class home : std::uint8_t { input, constant, computed };
    struct value {
        home where = home::computed;
        std::uint32_t number = 0; // of the input, or of the constant
        dtype type = dtype::invalid;
        int lanes = 0; // so many copies of it stand side by side; 0: nobody reads it

        std::size_t element() const { return size_of(type); } // bytes
    };
    struct call {
        block_function run = nullptr;
        int lanes = 1; // elements that it works on at a time: a number is as many equal ones
        std::uint32_t first_operand = 0, first_scalar = 0, first_mask = 0;
        std::uint32_t reads = 0, writes = 0; // its operands: those read, then those written
        // the instruction that it computes, where that may be part of machine code: known while the chain is
        const program* of = nullptr;
        std::uint32_t instruction = 0, node = 0;
    };
    /// Of a loop: an input that is another in each iteration.
    struct loop_carried_value {
        int value, next; // a slice's next is none: it comes from outside
    };
    static constexpr int none = -1; // a result that nobody wants

    vector<value> values;
    vector<call> calls;
    std::vector<int> operands; // values, or none
    std::vector<std::uint32_t> scalars, masks;
    vector<scalar_value> constants; // what `scalars` and values number
    std::vector<int> results;       // values: of each output of the chain
    bool may_divide = false;        // integers
    bool repeats = false;           // a loop: inputs that take no turn stay
    std::vector<loop_carried_value> carried;
};

/// Time and memory grow with the number of nodes and of their instructions.
scalar_code number_code_of(const fusion_group& chain, std::size_t results);

/// The same of a loop. Results are the condition if there is one, the next state, what is stacked, and the state itself.
scalar_code number_code_of(const scalar_loop& loop);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/scalar/scalar_code.ipp>
#endif
