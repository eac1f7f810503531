// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/kernel.hpp>
#include <rill/passes/subgraph.hpp>
#include <rill/resources/resources.hpp>
#include <rill/runtime/program/parallel_regions.hpp>
#include <rill/runtime/region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A subgraph bound to concrete shapes: types and slots of its values, kernels of its steps, places in the arena.
struct bound_graph {
    struct step {
        kernel run;
        std::int32_t inputs = 0, outputs = 0,
                     end = 0;    // its slot numbers in indices: of inputs, outputs and scratch memory
        std::int32_t writes = 0; // so many variables are written, from write_list[first_write] on
        std::int32_t first_write = 0;
        std::int32_t item = 0;    // of a chain, the last
        std::int32_t region = -1; // of one that runs bodies: its number among the regions
        bool initialises = false; // gives what it writes a whole value
        bool plain = true;        // writes no variable and runs no bodies
    };
    /// Fused nodes that are one step. A value that nothing else needs has no memory but a block of a thread's.
    struct chain {
        std::vector<int> items;
        std::vector<std::vector<char>> needed; // per item and port

        std::size_t member_of(int item) const {
            return static_cast<std::size_t>(std::lower_bound(items.begin(), items.end(), item) - items.begin());
        }
    };
    struct bound_variable {
        std::shared_ptr<variable_state> state;
        const node* origin;
        std::int32_t slot;
        bool read_at_start;
    };
    struct slot_value {
        tensor_type type;
        std::size_t bytes = 0;
        int first = -1, last = -1;
        enum class home { arena, scratch, string, feed, constant, variable, folded, block } where = home::arena;
        const device_type* space = nullptr; // whose memory; null: the host's
        int in_place_of = -1;
        std::int32_t variable = -1; // whose place it is
        bool many_lanes = false;    // several use it in the stretch of steps that uses it last
    };

    struct folded_value {
        int slot;
        any_array value;
    };

    /// The memory of a step in one space.
    struct arena {
        const device_type* space = nullptr;
        std::size_t bytes = 0;
    };
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    subgraph graph;
    vector<std::vector<tensor_type>> types;   // per item and port
    std::vector<std::vector<int>> value_slot; // per item and port
    std::vector<char> folded;                 // items that depend on constants alone, and what shape rules asked for
    vector<slot_value> slots;
    std::vector<std::int32_t> feed_slots, indices, write_list;
    vector<bound_variable> variables;
    vector<step> steps, folded_steps;
    vector<std::shared_ptr<const static_region_kernel>> regions; // of steps that run bodies
    const control_flow* control = nullptr;                       // which runs them
    std::vector<std::vector<int>> changes; // per item with bodies, and output: region_binding::changes
    vector<folded_value> folded_values;    // of slots: what shape rules asked for
    vector<chain> chains;
    std::vector<int> chained;          // per item: its chain, or -1
    vector<parallel_regions> parallel; // stretches of steps that run in several strands
    vector<arena> arenas;              // the host's first
    std::size_t arena_bytes = 0;       // of all
    double microseconds = 0;           // what all steps take, roughly, with those that help; where there are any
    std::size_t lower_bound = 0;       // bytes alive at once at the worst, step after step
    std::vector<std::size_t> offsets;  // per slot: its place in the arena of its space, or npos

    const tensor_type& type_of(const subgraph::value& v) const { return types[v.item][v.port]; }
    /// The input of its item that a value is with some changes, whose memory it may take; -1: there is none, or another input is there too.
    int changed_input(const subgraph::value& v) const {
        const auto& it = graph.items[v.item];
        if (!it.origin) return -1;
        const auto item = static_cast<std::size_t>(v.item), port = static_cast<std::size_t>(v.port);
        int input = -1;
        if (!it.origin->bodies)
            input = port == 0 ? it.op->updates() : -1;
        else if (item < changes.size() && port < changes[item].size())
            input = changes[item][port];
        for (int k = 0; input >= 0 && k < static_cast<int>(it.inputs.size()); ++k)
            if (k != input && slot_of(it.inputs[k]) == slot_of(it.inputs[input])) input = -1;
        return input;
    }
    int slot_of(const subgraph::value& v) const { return value_slot[v.item][v.port]; }
};

}}} // namespace rill::RILL_ABI::detail
