// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/kernel.hpp>
#include <rill/passes/subgraph.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/region_kernel.hpp>
#include <rill/runtime/segment/parallel_regions.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A subgraph bound to concrete shapes: types and slots of its values, kernels of its steps, offsets in the arena.
struct bound_graph {
    struct step {
        kernel run;
        std::int32_t inputs = 0, outputs = 0,
                     end = 0;    // offsets in `indices`: input slots, output slots, a scratch slot
        std::int32_t writes = 0; // number of written variables, from write_list[first_write] on
        std::int32_t first_write = 0;
        std::int32_t item = 0;    // for a fusion group, the last member
        std::int32_t number = 0;  // its index in `steps` or `folded_steps`
        std::int32_t region = -1; // for a step with bodies: its index in `regions`
        std::int32_t random = -1; // for a random op: its index in `streams`
        // the variable of which it reads slices, without a version held by the step; -1: none
        std::int32_t slices_of = -1;
        std::int32_t first_release = 0, releases = 0;  // range in `release_list`
        variable_write how = variable_write::elements; // kind of the write
        // True if the host must first read the error records, which waits for the devices. The step must not run after a failure that it
        // can't see, or it reads a copy to the host.
        bool reads_error_records = false;
        bool plain = true;      // runs its kernel and does nothing else
        bool ends_late = false; // copies a value to the host: its bytes may come after the step
    };
    /// A fusion group: fused nodes that run as one step. A value that no other step needs exists only in a block per thread.
    struct bound_fusion_group {
        std::vector<int> items;
        std::vector<std::vector<char>> needed; // per item and port: read outside the group

        std::size_t member_of(int item) const {
            return static_cast<std::size_t>(std::lower_bound(items.begin(), items.end(), item) - items.begin());
        }
    };
    struct bound_variable {
        /// The way in which a run reads the version that is current at its start.
        enum class start : std::uint8_t {
            unread, // the variable is written first, or not used
            slices, // one kernel reads slices of the version that is current when it runs
            held    // the frame holds it
        };
        std::shared_ptr<variable_state> state;
        const node* origin;
        std::int32_t slot; // the slot before it has the old value while a kernel writes the variable
        start reads = start::unread;
        bool needs_value = false; // at the start of a run
    };
    struct written_variable {
        std::int32_t variable;
        bool keeps; // the frame then holds the new version
    };
    struct slot_value {
        tensor_type type;
        std::size_t bytes = 0;
        int first = -1, last = -1;
        enum class home { arena, scratch, string, feed, constant, variable, folded, block } where = home::arena;
        const memory_space* space = nullptr; // null: the host's memory
        int in_place_of = -1;
        std::int32_t variable = -1; // the variable that the slot holds; -1: none
        bool many_lanes = false;    // several lanes use it, in the window of its last use
    };

    struct folded_value {
        int slot;
        any_array value;
    };

    /// A range of steps of one device that is captured and replayed as a whole (captured_ranges.hpp).
    struct captured_range {
        /// A variable that the steps write, or of which they read slices. It is held while they are started.
        struct used_variable {
            std::int32_t variable;
            bool writes = false;
            bool keeps = true;                             // after a write: the frame holds the new version
            variable_write how = variable_write::elements; // the kind of the write
        };
        std::int32_t first = 0, last = 0; // from step `first` to step `last` - 1
        const memory_space* space = nullptr;
        std::vector<std::int32_t> slots;      // their addresses are arguments of the kernels
        std::vector<used_variable> variables; // in the order of their locks (comes_first)
        std::vector<std::int32_t> releases;   // variables whose version the frame no longer holds after the range
    };

    /// The steps of a body whose work a device can capture as a whole (find_whole_capture).
    struct whole {
        const memory_space* space = nullptr; // null: it can't
        std::int32_t steps = 0;              // the number of captured steps, from the first on
        std::int32_t copied = -1; // the slot that the one step after them copies to the host; -1: there is none
    };

    /// The memory of a step in one space.
    struct arena {
        const memory_space* space = nullptr;
        std::size_t bytes = 0;
    };
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    subgraph graph;
    vector<std::vector<tensor_type>> types;   // per item and port
    std::vector<std::vector<int>> value_slot; // per item and port
    std::vector<char> folded;                 // per item: computed while binding, from constants or for shape rules
    vector<slot_value> slots;
    std::vector<std::int32_t> feed_slots, indices;
    std::vector<written_variable> write_list;
    std::vector<std::int32_t> release_list; // variables whose version no later step reads
    vector<bound_variable> variables;
    vector<step> steps, folded_steps;
    vector<std::shared_ptr<const static_region_kernel>> regions; // kernels of steps that run bodies
    const dynamic_runtime* control = nullptr;                    // runs the regions
    std::vector<std::vector<int>> changes; // per item with bodies, and output: region_binding::changes
    vector<folded_value> folded_values;    // per slot: values requested by shape rules
    vector<bound_fusion_group> fusion_groups;
    std::vector<int> group_of;                      // per item: its fusion group, or -1
    vector<parallel_regions> parallel;              // windows of steps that run in several lanes
    vector<arena> arenas;                           // the host's is the first
    std::vector<const memory_space*> spaces;        // device memories: each run keeps an error record in each
    vector<std::function<random_stream()>> streams; // per random op: returns the stream of the next run
    vector<captured_range> captured;                // in order, and apart from each other
    whole whole_capture;
    std::size_t arena_bytes = 0;      // total size of all arenas
    double microseconds = 0;          // estimated time of all steps, with helping threads; 0: no threads
    std::size_t lower_bound = 0;      // largest number of bytes alive at once, if steps run in sequence
    std::vector<std::size_t> offsets; // per slot: its offset in the arena of its space, or npos

    /// The order in which all runs lock variables, so that concurrent runs can't deadlock.
    bool comes_first(std::int32_t variable, std::int32_t other) const {
        return std::less<>()(variables[variable].state.get(), variables[other].state.get());
    }
    const tensor_type& type_of(const subgraph::value& v) const { return types[v.item][v.port]; }
    /// Returns the input that `v` is a modified copy of and whose memory it may take; -1 if there is none, or if that memory holds another
    /// input.
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
    std::span<const written_variable> written_by(const step& s) const {
        return std::span(write_list)
            .subspan(static_cast<std::size_t>(s.first_write), static_cast<std::size_t>(s.writes));
    }
    /// Returns true if the step's kernel writes the variable. The old value then has its own slot.
    bool writes_variable(const step& s, std::int32_t variable) const {
        return s.region < 0 && detail::any_of(written_by(s), [&](const auto& w) { return w.variable == variable; });
    }
};

}}} // namespace rill::RILL_ABI::detail
