// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <rill/core/wire_format.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// An edge between two parts: a value, or a control edge, which transfers an empty array.
struct cross_edge {
    std::uint32_t number = 0;
    int from = 0, to = 0; // parts
    tensor_type type;     // the statically known type
    bool is_control = false;
    int bundled_into = -1; // the edge whose message carries its value; -1: its own
    wire_format wire = wire_format::as_is;
};

/// Bundles edges from one part to another that follow the same exchanges. Their values must be small, of known size, and in one wire
/// format; `wire` is the session's. Each bundle is one message on the edge of its last member. The input is the ordered and sorted
/// subgraph of a run with sends and receives, and so is the result.
subgraph bundle_edges(subgraph g, std::vector<cross_edge>& edges, wire_format wire, bool takes_turns);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/bundle_edges.ipp>
#endif
