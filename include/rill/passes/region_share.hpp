// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// The items of a run, or of a body, that one part runs.
struct part_items {
    subgraph steps;           // sorted; its feeds are those of the run that it reads
    std::vector<int> feeds;   // per feed of the part: its number in the run
    std::vector<int> fetches; // per fetch of the part: its number in the run
};

/// The share of one part in a body.
struct body_share {
    subgraph steps;
    std::vector<int> feeds;   // per feed: its number among the arguments, then the captures, of the whole body
    std::vector<int> results; // per result: its number among the fetches; -1: an absent value
};

/// The share of one part in a partitioned node with bodies. All parts run the same branch or the same number of iterations: the
/// deciding value is sent to all.
struct region_share {
    std::vector<int> inputs; // per input: its number in the whole node
    std::vector<int>
        operands; // the operands that the part keeps; also the arguments of its bodies, unless it is a branch
    std::vector<int> outputs;   // per output: its number in the whole node
    std::vector<bool> is_shape; // per input: the part needs its shape only
    std::vector<body_share> bodies;
};

}} // namespace rill::RILL_ABI
