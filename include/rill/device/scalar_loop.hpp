// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <rill/core/dtype.hpp>
#include <rill/core/program.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/compiled_loop.hpp>

namespace rill { inline namespace RILL_ABI {

/// A loop whose condition and body are fused nodes over one element. The fusion group's inputs are the state, the slices, then
/// the invariants. The kernel reads an iteration limit (int64), the position of each operand's first slice, and the invariants.
/// It updates the state (outputs) and writes stacked outputs from the first position on. A last output (int64) counts the iterations
/// that ran, also if the kernel throws. A count below the limit means that the condition became false.
struct scalar_loop {
    using source = fusion_group::source;
    static constexpr std::string_view name = "NumberLoop"; // the name of its kernel in the registry

    fusion_group group;        // the condition, then the body; the members below name its results
    std::vector<dtype> inputs; // types of the group's inputs
    int slices = 0;
    bool conditional = false;    // false: it runs to the iteration limit
    bool reverse = false;        // slices are read from the last to the first
    source condition{-1, 0};     // a bool result
    std::vector<source> next;    // per state value: its next value
    std::vector<source> stacked; // per stacked output: its slice

    int parts() const { return static_cast<int>(next.size()); } // state values
    /// Returns true if an input of the group is loop-invariant.
    bool is_invariant(int input) const { return input >= parts() + slices; }
    dtype type_of(const source& from) const {
        if (from.member < 0) return inputs[static_cast<std::size_t>(from.index)];
        const auto& body = *group.members[static_cast<std::size_t>(from.member)].spec->body;
        return body.type_of(body.results[static_cast<std::size_t>(from.index)]);
    }
};

/// The compiled form of a scalar loop.
struct loop_code {
    /// A loop-invariant operand of the function.
    struct operand {
        int input = -1;        // an input of the group; -1: none
        scalar_value constant; // otherwise a constant; an operand of type `invalid` has no address
    };
    compiled_loop run = nullptr; // null: there is none
    detail::vector<operand> operands;
    std::int64_t most = 1024; // iterations of one call, so that cancellation is noticed in time
};

}} // namespace rill::RILL_ABI
