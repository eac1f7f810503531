// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/graph/graph.hpp>

// A graph as plain data: the form between nodes and a file.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An output of a node, which is given by its index in saved_graph::nodes.
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
    std::uint32_t colocated = 0;      // index + 1; 0: not colocated
    std::vector<tensor_type> outputs; // output types at the time of saving, checked on load
};

struct saved_collection {
    std::string name;
    std::vector<saved_edge> members;
};

/// A region and the indices of its nodes.
struct saved_region {
    std::uint32_t parent = 0; // index + 1; 0: the graph itself
    std::string name;
    std::vector<std::uint32_t> nodes;
};

struct saved_body {
    static constexpr std::uint32_t none = 0xffffffffu; // node of an absent result
    std::uint32_t of = 0;
    std::vector<saved_edge> arguments, results, captures;
    std::vector<std::uint32_t> captured, effects;
};

struct saved_bodies {
    std::uint32_t node = 0, first_variant = 0; // first_variant is index + 1; 0: the node itself
    std::vector<saved_body> all;
};

/// The back edge of a merge.
struct saved_loop {
    std::uint32_t merge = 0;
    saved_edge back;
};

/// The value of a variable before its initializer runs.
struct saved_value {
    std::uint32_t variable = 0;
    std::string array; // bytes_of_array
};

struct saved_graph {
    std::string producer; // "rill 0.1.0"
    std::uint64_t seed = 0;
    std::vector<saved_node> nodes; // each after the nodes that it refers to
    std::vector<saved_collection> collections;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> initializers; // variable, assign
    std::vector<saved_region> regions;                                 // each after its parent
    std::vector<saved_bodies> bodies;                                  // in the order of their nodes
    std::vector<saved_loop> loops;
    std::vector<saved_value> values;
};

/// The part of a graph to save.
struct save_request {
    std::span<const node* const> wanted =
        {}; // these nodes, and the inputs and control inputs that they need; empty: all nodes
    bool initializers =
        true; // variables travel with their initializers and values. A run that is shipped needs neither.
    std::span<const std::pair<const node*, any_array>> values = {}; // of variables; the others keep the graph's values
};

/// Returns a graph, or a part of it, as data. A node that is colocated with an omitted node requests that node's device instead.
saved_graph save_graph(const graph& g, const save_request& request = {});

/// Makes a new graph from untrusted data. Throws invalid_argument, which names the faulty node, if the data is inconsistent. Throws
/// unimplemented, with all their names, for ops that this program lacks.
graph load_graph(const saved_graph& saved, const std::source_location& where = {});

/// Writes and reads the format of graph files; serialization.ipp defines it. saved_graph_of throws data_loss for damaged bytes, and
/// invalid_argument for a newer format.
std::string bytes_of(const saved_graph& g);
saved_graph saved_graph_of(std::string_view bytes);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/graph/serialization/saved_graph.ipp>
#endif
