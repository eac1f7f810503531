// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/device.hpp>
#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI {

/// The part of a graph that one kind of run executes: what passes work on. Items are nodes, fed edges, or copies.
struct subgraph {
    /// A value within the subgraph: an item's output.
    struct value {
        int item = -1;
        int port = 0;
        friend bool operator==(const value&, const value&) = default;
    };

    struct item {
        const node* origin = nullptr; // null: a fed edge, or a copy
        op_ptr op = {};               // what it does: its node's op, or what a pass made of it
        int feed = -1;                // which feed it stands for
        small_vector<value, 2> inputs;
        small_vector<int, 4> after;          // items that run before it beside its inputs
        const device_type* device = nullptr; // where it runs; null: the host

        bool is_copy() const { return !origin && feed < 0; }
        bool is_write() const { return op && !op->writes().empty(); }
        /// It changes this input, a variable.
        bool writes(std::size_t input) const;
        /// Its output is the variable that it changed.
        bool gives_written(int port) const;
        /// Where its results lie; null: in the host's memory.
        const device_type* memory() const;
    };

    detail::vector<item> items; // every input and `after` points to an item that runs earlier, once ordered
    detail::vector<value> fetches;
    std::vector<endpoint> feeds;
    std::vector<int> targets; // items run for their effect

    std::string name_of(int i) const;
    op_role role(int i) const;
};

/// Throws `internal` if a pass left the subgraph malformed. Run after each pass in debug builds.
void check(const subgraph& g, bool ordered);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/subgraph.ipp>
#endif
