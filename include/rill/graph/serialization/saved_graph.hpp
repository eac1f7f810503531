// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/graph/graph.hpp>

// A graph as plain data, between nodes and whatever form they are kept in.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An output of a node, by its place in the list of nodes.
struct saved_edge {
    std::uint32_t node = 0, port = 0;
    friend bool operator==(const saved_edge&, const saved_edge&) = default;
};

struct saved_node {
    std::string name, op;
    std::int32_t version = 1;
    std::string fields; // bytes_of_fields
    std::vector<saved_edge> inputs;
    std::vector<std::uint32_t> control_inputs;
    std::string device;
    std::uint32_t colocated = 0;      // counted from 1; 0: with none
    std::vector<tensor_type> outputs; // what they were found to be: a check
};

struct saved_collection {
    std::string name;
    std::vector<saved_edge> members;
};

/// A region, and which nodes lie in it.
struct saved_region {
    std::uint32_t parent = 0; // counted from 1; 0: the graph itself
    std::string name;
    std::vector<std::uint32_t> nodes;
};

struct saved_body {
    static constexpr std::uint32_t none = 0xffffffffu; // the node of a result that the body leaves out
    std::uint32_t of = 0;
    std::vector<saved_edge> arguments, results, captures;
    std::vector<std::uint32_t> captured, effects;
};

struct saved_bodies {
    std::uint32_t node = 0, first_variant = 0; // the twin counted from 1; 0: the node itself
    std::vector<saved_body> all;
};

/// What comes back to a merge.
struct saved_loop {
    std::uint32_t merge = 0;
    saved_edge back;
};

/// The value that a variable begins with.
struct saved_value {
    std::uint32_t variable = 0;
    std::string array; // bytes_of_array
};

struct saved_graph {
    std::string producer; // "rill 0.1.0"
    std::uint64_t seed = 0;
    std::vector<saved_node> nodes; // each after all that it names
    std::vector<saved_collection> collections;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> initializers; // variable, assign
    std::vector<saved_region> regions;                                 // each after its parent
    std::vector<saved_bodies> bodies;                                  // in the order of their nodes
    std::vector<saved_loop> loops;
    std::vector<saved_value> values;
};

/// A graph as data: whole, or what the given nodes need, by data, by control and for the first values of variables. A node that
/// sits with one that is left out sits anywhere. Variables that travel take along the values that are given, or those that the
/// graph has.
saved_graph save_graph(const graph& g, std::span<const node* const> wanted = {},
                       std::span<const std::pair<const node*, any_array>> values = {});

/// A graph of its own from data, wherever that came from. Everything is checked, and errors say which node is wrong:
/// invalid_argument; unimplemented, with all their names, for ops that this program lacks.
graph load_graph(const saved_graph& saved, const std::source_location& where = {});

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/graph/serialization/saved_graph.ipp>
#endif
