// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <rill/core/wire_format.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// An edge between two parts: a value, or a control edge, which carries an empty array.
struct cross_edge {
    std::uint32_t number = 0;
    int from = 0, to = 0; // parts
    tensor_type type;     // as far as it is known before the run
    bool is_control = false;
    int bundled_into = -1; // the edge whose message carries its value; -1: its own
    wire_format wire = wire_format::as_is;
};

/// Bundles edges that leave one part for another after the same exchanges. Their values are small, of known size, and travel in one form;
/// `wire` is that of the session. Each bundle is one message on the edge of its last member. The subgraph, of a run with sends and
/// receives, is ordered and sorted; so is the result.
subgraph bundle_edges(subgraph g, std::vector<cross_edge>& edges, wire_format wire, bool takes_turns);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/bundle_edges.ipp>
#endif
