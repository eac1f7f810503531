// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/kernel_registry.hpp>
#include <rill/passes/constant_folder.hpp>
#include <rill/runtime/segment/bound_graph.hpp>
#include <rill/runtime/segment/fused_views.hpp>
#include <rill/runtime/segment/lifetimes.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A binder of subgraphs to concrete types: infers shapes, assigns slots, binds kernels, plans memory. Steady-state steps do none of
/// this.
class binder : private bound_graph {
public:
    /// Returns nothing if a node binds dynamically.
    static std::optional<bound_graph> bind(const subgraph& g, std::span<const tensor_type> feeds,
                                           resource_store& resources, const body_plans& bodies = {});

private:
    bool infer(std::span<const tensor_type> feed_types, const body_plans& bodies, allocator& memory);
    /// Returns the folded outputs of an item, which needs no step; null if it has none.
    const std::vector<any_array>* known_value(std::size_t i) const;
    void find_folded();
    bool reads(std::size_t item, std::size_t input) const {
        return !detail::contains(shape_only_[item], static_cast<std::int32_t>(input));
    }
    void find_fusion_groups();
    /// Lets fused nodes read slices in place and write into paddings. A fused node that does so forms a group.
    void find_views();
    bool stays_in_block(std::size_t i, std::size_t port) const;

    void assign_slots(resource_store& resources);

    /// Returns the slot whose memory output `port` shares: that of the aliased input, or of a written variable; else -1.
    int aliased_slot(std::size_t i, std::size_t port) const;
    /// Returns true if a value is the memory of a variable that an earlier stage has read or written.
    bool is_fed_variable(const subgraph::value& v) const;

    bool is_step(std::size_t i) const;

    void bind_steps(resource_store& resources);

    void bind_fusion_group(const bound_fusion_group& c, resource_store& resources);

    /// Returns the slot of unread inputs: its address is null, and the step does not keep their memory alive.
    int unread_slot();

    /// Adds a bound step: its slot numbers and scratch memory. `cost` is the cost of its op or fusion group.
    void add_step(step s, std::span<const int> inputs, std::span<const int> outputs, const kernel_request& request,
                  const op_cost& cost, bool is_folded);

    std::int32_t variable_index(const subgraph::value& v, const node& writer) const;

    /// Finds the device memories in use, and the steps before which the host waits and reads their error records.
    void find_spaces();

    hash_map<int, std::shared_ptr<const static_region_kernel>> region_of_; // per item with bodies
    constant_folder known_{graph, types};
    vector<input_list> shape_only_; // per item
    std::vector<char> needed_;      // per item
    fused_views views_;
    int unread_slot_ = -1;
    vector<shared_place> may_share_;
    vector<step_cost> costs_; // per step

    static kernel bind_kernel(const subgraph::item& it, kernel_request& request);
    /// Binds a step that copies a value to another memory.
    void bind_copy(const subgraph::item& it, step& s) const;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/binding.ipp>
#endif
