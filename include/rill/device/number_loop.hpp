// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <rill/core/dtype.hpp>
#include <rill/core/program.hpp>

namespace rill { inline namespace RILL_ABI {

/// A loop whose condition and body are fused nodes over one element: what its kernel is made of. Inputs of the chain are the parts of
/// the state, then slices, then what stays. The kernel reads how many iterations it runs at most (an int64), where the first slice of
/// each operand is, and what stays; it changes the state (outputs), writes what is stacked from the first place on, and counts the
/// iterations that it ran in a last output (an int64), also when it throws. Fewer than it may run: the condition said so.
struct number_loop {
    using source = fusion_group::source;
    static constexpr std::string_view name = "NumberLoop"; // what its kernel is registered as

    fusion_group chain;        // of the condition, then of the body; its results are those below
    std::vector<dtype> inputs; // of the chain
    int slices = 0;
    bool conditional = false;    // else it goes on as long as it may
    bool reverse = false;        // each slice lies before the last one
    source condition{-1, 0};     // a bool
    std::vector<source> next;    // of each part of the state
    std::vector<source> stacked; // one a slice
};

}} // namespace rill::RILL_ABI
