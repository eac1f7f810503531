// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include <rill/device/registry.hpp>
#include <rill/passes/subgraph.hpp>
#include <rill/runtime/branches.hpp>
#include <rill/runtime/resources.hpp>

namespace rill::inline RILL_ABI::detail {

/// A subgraph bound to concrete shapes: types and slots of its values, kernels of its steps, places in the arena.
struct bound_graph {
    struct step {
        kernel run;
        std::int32_t inputs = 0, outputs = 0, end = 0; // its slot numbers in indices: of inputs, outputs and scratch memory
        std::int32_t writes = 0;              // so many variables are written, from write_list_[first_write] on
        std::int32_t first_write = 0;
        std::int32_t item = 0;                // of a chain, the last
        bool initialises = false;             // gives what it writes a whole value
    };
    /// Fused nodes that are one step. A value that nothing else needs has no memory but a block of a thread's.
    struct chain {
        std::vector<int> items;
        std::vector<std::vector<char>> needed; // per item and port

        std::size_t link_of(int item) const {
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
        int in_place_of = -1;
        bool many_lanes = false; // several use it in the stretch of steps that uses it last
    };

    static constexpr int most_writes = 8;
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    subgraph graph;
    std::vector<std::vector<tensor_type>> types;  // per item and port
    std::vector<std::vector<int>> value_slot;     // per item and port
    std::vector<char> folded;                     // items that depend on constants alone
    std::vector<slot_value> slots;
    std::vector<std::int32_t> feed_slots, indices, write_list;
    std::vector<bound_variable> variables;
    std::vector<step> steps, folded_steps;
    std::vector<chain> chains;
    std::vector<int> chained; // per item: its chain, or -1
    std::vector<branches> parallel; // stretches of steps that run in several lanes
    std::size_t arena_bytes = 0;
    std::size_t lower_bound = 0; // bytes alive at once at the worst: no layout needs less
    std::vector<std::size_t> offsets; // per slot: its place in the arena, or npos

    const tensor_type& type_of(const subgraph::value& v) const;
    int slot_of(const subgraph::value& v) const;
};

/// Binds a subgraph: shapes, then slots, kernels and memory. All the work that a hot step does not do.
class binder : private bound_graph {
public:
    static bound_graph bind(const subgraph& g, std::span<const tensor_type> feeds, resource_store& resources);

private:
    void infer(std::span<const tensor_type> feed_types);
    void find_folded();
    void find_chains();
    bool stays_in_block(std::size_t i, std::size_t port) const;

    void assign_slots(resource_store& resources);

    /// The slot of an input whose memory an output shares: of an alias, or of a write (its variable), else -1.
    int aliased_slot(std::size_t i, std::size_t port) const;

    bool is_step(std::size_t i) const;

    void bind_steps(resource_store& resources);

    void bind_chain(const chain& c, resource_store& resources);

    /// Adds a step that is bound: its slot numbers and its scratch memory.
    void add_step(step s, std::span<const subgraph::value> inputs, std::span<const int> outputs, const kernel_request& request,
                  bool is_folded);

    /// Of each step, the earlier ones it comes after.
    std::vector<std::vector<int>> step_needs() const;

    std::int32_t variable_index(const subgraph::value& v, const node& writer) const;

    /// Variables that are read before any write of this step must have a value when it starts.
    void note_start_reads();

    std::unordered_map<int, std::int32_t> variable_of_slot_;

    /// A step's output that may take the place of an input.
    struct shared_place {
        std::size_t step;
        subgraph::value input, output;
    };
    std::vector<shared_place> may_share_;
    std::vector<step_cost> costs_;              // per step
    std::vector<std::pair<int, int>> lane_of_;  // per step: its stretch and lane; -1 and 0 of others

    static kernel bind_kernel(const op& op, const node& n, kernel_request& request);
    static kernel copy_kernel(const tensor_type& t);

    // ---- memory ------------------------------------------------------------------------------------------------------------

    void plan_memory();

    /// Where a value may be while lanes run beside one another: as long as the stretch, unless one lane alone uses it.
    void plan_arena_by_lanes();

    /// An elementwise result takes the place of an input of its size that ends with the same step.
    void reuse_inputs();
};

} // namespace rill::inline RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/binding.ipp>
#endif
