// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/graph/op/op.hpp>

namespace rill { inline namespace RILL_ABI {

/// A subgraph that a node runs: the body of a cond, a while, a scan or a function. Its nodes are ordinary nodes of the graph that name
/// the region. They may use values of the enclosing regions; nodes outside may not use theirs.
struct region {
    const region* parent = nullptr; // enclosing region; null: the graph itself
    std::uint32_t id = 0;           // in order of creation: parents have smaller ids
    std::string name;               // "while/body"
    std::source_location where;
    std::uint32_t first_node = 0; // nodes of the region have this id or a larger one
};

/// A map from values to the values that replace them.
using endpoint_map = detail::hash_map<std::pair<const node*, int>, endpoint>;

/// The content of a body built from control-flow primitives. Its nodes have no region of their own: they share the region of the node
/// that runs them.
struct functionalized_part {
    detail::hash_set<const node*> nodes; // nodes of the body: control inputs outside this set are ignored
    endpoint_map same;                   // replacements of values within the body
    bool is_dataflow = false;            // runs on the dataflow executor, primitives included
};

/// A region in the form in which its node runs it. The results are fetched, the arguments and captures are fed.
struct body {
    const region* of = nullptr;
    std::vector<endpoint> arguments; // values that the node feeds
    std::vector<endpoint> results;   // null: an absent value, which only other bodies give
    std::vector<endpoint> captures;  // outer values, fed from the node inputs that `captured` numbers
    std::vector<int> captured;
    std::vector<const node*> effects;                               // nodes that run even if no result needs them
    std::shared_ptr<const functionalized_part> functionalized = {}; // set if built from control-flow primitives
};

/// The bodies of a node. Variants of a region op are nodes with the same inputs and bodies; each has all results of the one before,
/// and more. Among the variants that a plan needs, only the last one runs.
struct node_bodies : std::vector<body> {
    const node* first_variant = nullptr; // null: the node is the first variant
    bool sized = false;                  // runs of one body may give results of different extents
};

/// Returns the name and place of a region for messages: "'while/body' (made at model.cpp:42)".
std::string text_of(const region& r);

/// Returns true if nodes of `to` may use values of `from`. Null is the graph itself.
bool reaches(const region* from, const region* to);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/region.ipp>
#endif
