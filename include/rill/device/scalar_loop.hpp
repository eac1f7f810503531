// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <rill/core/dtype.hpp>
#include <rill/core/program.hpp>

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
};

}} // namespace rill::RILL_ABI
