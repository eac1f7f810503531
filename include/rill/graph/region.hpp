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

/// A part of a graph that runs when a node says so: a branch, the body of a loop, a function. Its nodes are ordinary nodes of the
/// graph that name it; they may use what lies outside, but nobody outside may use them.
struct region {
    const region* parent = nullptr; // in which it lies; null: the graph itself
    std::uint32_t id = 0;           // in order of creation: parents have smaller ids
    std::string name;               // "while/body"
    std::source_location where;
    std::uint32_t first_node = 0; // its nodes have this id or larger ones
};

/// Values by which others go.
using endpoint_map = detail::hash_map<std::pair<const node*, int>, endpoint>;

/// What a body made of primitives of control flow holds: its nodes lie where the node that runs it does.
struct functionalized_part {
    detail::hash_set<const node*> nodes; // of which each waits for the others
    endpoint_map same;                   // values that are others there
    bool is_dataflow = false;            // its nodes run one by one, primitives among them
};

/// What a node runs of a region: a run whose fetches are its results, fed with its arguments and what it takes from outside.
struct body {
    const region* of = nullptr;
    std::vector<endpoint> arguments; // fed by the node
    std::vector<endpoint> results;   // null: this body does not give it
    std::vector<endpoint> captures;  // fed with those inputs of the node that `captured` numbers
    std::vector<int> captured;
    std::vector<const node*> effects;                               // run whether or not results need them
    std::shared_ptr<const functionalized_part> functionalized = {}; // of a body that is no region of its own
};

/// The bodies of a node. Nodes that run the same and give more, each all that the one before gives, are twins: of those that a plan
/// needs, it runs the last alone.
struct node_bodies : std::vector<body> {
    const node* first_variant = nullptr; // null: the node itself
    bool sized = false;                  // one run of a body may give other extents than another
};

/// "the body of 'while', made at model.cpp:42": how messages name it.
std::string text_of(const region& r);

/// Whether what lies in `from` (null: the graph itself) may be used by nodes of `to`.
bool reaches(const region* from, const region* to);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/region.ipp>
#endif
