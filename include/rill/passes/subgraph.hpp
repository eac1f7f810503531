// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/device.hpp>
#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI {

struct region_share;

/// The part of a graph that one plan runs, on which passes work. Items are nodes, fed edges or copies.
struct subgraph {
    /// A value within the subgraph: an output of an item.
    struct value {
        int item = -1;
        int port = 0;
        friend bool operator==(const value&, const value&) = default;
    };

    struct item {
        const node* origin = nullptr; // null: a fed edge, a copy, or the send or receive of an edge between parts
        op_ptr op = {};               // the node's op, or one that a pass made
        int feed = -1;                // the number of the feed; -1: none
        small_vector<value, 2> inputs;
        small_vector<int, 4> after; // control inputs: items that run before it
        int asked = -1;             // number of these, from the first, that the user requested; -1: all
        /// The device that it runs on; for a fed edge, the device in whose memory the value lies. Null: the host.
        const rill::device* device = nullptr;
        int part = -1; // in a partitioned run: the part that runs it; -1: every part that needs it
        int edge = -1; // for a send or receive between parts: the number of its edge
        /// The share of a node with bodies that this item's part runs. Ports are then ports of the share.
        std::shared_ptr<const region_share> share = {};

        bool is_copy() const { return !origin && feed < 0 && !op; }
        bool is_write() const { return op && !op->writes().empty(); }
        /// Returns true if the item writes this input, a variable.
        bool writes(std::size_t input) const;
        /// Returns the inputs of which the item needs only the shape.
        input_list shape_only_inputs() const { return op ? op->shape_only_inputs(inputs.size()) : input_list{}; }
        /// Returns true if the output is the variable after the item's write.
        bool gives_written(int port) const;
        /// Returns the memory in which the item computes; null for the host's.
        const memory_space* memory() const;
        /// Returns the device in whose memory a result lies: the item's. Null: host memory, for constants and for what a loop with
        /// swap_memory keeps for its gradient.
        const rill::device* output_device(int port) const;
        /// Returns the memory of a result; null for the host's.
        const memory_space* output_memory(int port) const {
            const auto* there = output_device(port);
            return there ? there->space : nullptr;
        }
        /// Returns the device in whose memory the item reads an input. Null: host memory, for values that host code reads, such as
        /// shapes and branch indices, and for slices that a loop with swap_memory has kept.
        const rill::device* input_device(std::size_t input) const;
        /// Returns the memory in which the item reads an input; null for the host's.
        const memory_space* input_memory(std::size_t input) const {
            const auto* there = input_device(input);
            return there ? there->space : nullptr;
        }
        /// Returns the type of the device that it runs on.
        const device_type& runs_on() const { return device ? *device->type : cpu_device(); }
    };

    detail::vector<item> items; // once sorted, inputs and `after` refer to earlier items
    detail::vector<value> fetches;
    std::vector<endpoint> feeds;
    std::vector<int> targets; // items run for their effect

    std::string name_of(int i) const;
    op_role role(int i) const;
};

/// Throws `internal` if a pass left the subgraph malformed. Debug builds call this after each pass.
void check(const subgraph& g, bool ordered);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/subgraph.ipp>
#endif
