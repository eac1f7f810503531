// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include <rill/graph/region.hpp>

namespace rill { inline namespace RILL_ABI {

class graph_state;

/// A node: an op with its edges. Immutable once it is in its graph.
struct node {
    graph_state* owner = nullptr;
    std::uint32_t id = 0; // in order of creation: inputs have smaller ids
    std::string name;
    op_ptr op;
    endpoint_list inputs;
    small_vector<const node*, 1> control_inputs;
    std::string device;              // constraint, possibly partial
    const node* colocated = nullptr; // a node whose device this one shares
    small_vector<tensor_type, 1> outputs;
    std::source_location where;
    const region* inside = nullptr;      // region of the node; null: the graph itself
    const node_bodies* bodies = nullptr; // regions that the node runs; null unless op::regions

    const tensor_type& output(int port) const { return outputs[port]; }
};

/// Returns the first variant of a region op: the node itself unless it is a later variant.
inline const node* first_variant(const node& n) {
    return n.bodies && n.bodies->first_variant ? n.bodies->first_variant : &n;
}

/// Returns true if `e` is a value that a loop with swap_memory keeps for its gradient. It then lies in host memory.
bool is_swapped(const endpoint& e);

inline endpoint gradient_request::input(int i) const { return at.inputs[i]; }
inline endpoint gradient_request::output(int i) const { return {&at, i}; }

inline const tensor_type& type_of(const endpoint& e) { return e.from->output(e.port); }

/// Returns the variable that a write of `e` changes. `e` may be the output of an earlier write.
const node* written_variable(endpoint e);

/// Returns the variable that `e` is an output of: its own, or that of a write. Returns null if `e` is not a variable.
const node* variable_of(endpoint e);

/// Returns the node whose device a node takes: the one that it is colocated with, or itself.
const node& placed_with(const node& n);

/// Returns the device that a node requests: its own, or that of the node it is colocated with. It may be empty or partial.
const std::string& requested_device(const node& n);

/// Returns the name of an edge: "layer/add:0".
std::string name_of(const endpoint& e);

/// Returns the place of a node for messages: "node 'layer/add', made at model.cpp:42".
std::string place_of(const node& n);

/// Returns an error message: "label: what (node 'layer/add', made at model.cpp:42)". A `what` that names the place already is returned
/// unchanged.
std::string error_at(const node& n, const std::string& label, const std::string& what);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/node.ipp>
#endif
