// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include <rill/core/device_name.hpp>
#include <rill/core/error.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/device_set.hpp>
#include <rill/passes/cost_record.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// The placement of a session's nodes. Each node is placed once, when the first plan that contains it is compiled. Plans of bodies use the
/// same placement. The device of a node does not depend on the plan. Exception: a placer that learns may move stateless nodes for a later
/// plan. Thread-safe.
class placement {
public:
    using report_function = std::function<void(const node&, const device&)>;

    /// Makes an empty placement. Nodes without a request go to the first device of type `by_default`, or to the CPU if there is none.
    /// `soft` permits the task's CPU if the device is missing, can't run the node, or lacks room. Calls `report` once for each node, and
    /// again when a placer moves it.
    placement(const device_counts& counts, const device_type& by_default, bool soft, report_function report = {},
              placers placer = placers::simple)
        : placement(counts, local_task(), by_default, soft, std::move(report), placer) {}
    /// Does the same for a session of several tasks with equal devices. Nodes that name no task run on the first one. `costs`: measured
    /// times for the placer; null if it does not learn. `gpu`: the session's choice of devices.
    placement(const device_counts& counts, std::span<const device_name> tasks, const device_type& by_default, bool soft,
              report_function report, placers placer = placers::simple, std::shared_ptr<cost_record> costs = {},
              const gpu_options& gpu = {});

    placers placer() const noexcept { return placer_; }
    /// Returns the measured times of the session's nodes; null if the placer does not learn.
    const std::shared_ptr<cost_record>& costs() const noexcept { return costs_; }
    /// Returns true if a placer may choose the node's device. The node must not be placed or chosen for, and must request no device type.
    /// The same holds for the node that it is colocated with. A node of a body follows the node that runs the body, so no placer cuts a
    /// loop or branch.
    bool is_free(const node& n) const;
    /// Returns true if a placer may choose again for a node. It must have chosen before, and the node must be stateless and without bodies.
    bool may_move(const node& n) const;
    /// Returns true if the node is placed.
    bool is_placed(const node& n) const;
    /// Returns true if the device can run the node and all nodes colocated with it.
    bool can_run(const node& n, const device& there);
    /// Makes a device the default one for a node. A variable lies there even if it requests another device, or the memory has no room: an
    /// earlier placement may have counted it. A node that is already placed moves.
    void choose(const node& n, const device& there);
    /// Returns true if choose() has moved the placed node to another type of device. Plans compiled before still run it on the earlier one.
    bool has_moved(const node& n) const;
    /// Returns the bytes left for further variables in a memory of this process; infinity if unknown. Null: host memory.
    double free_bytes(const memory_space* space);

    const device_set& devices() const noexcept { return devices_; }
    /// Returns the device of nodes that request none.
    const device& default_device() const noexcept { return default_; }

    /// Returns the device of a node. Throws invalid_argument if the requested device does not exist, or has no kernel of the op. It also
    /// throws if the node writes variables in several memories. A colocated node also throws if the other node's device has no kernel for
    /// it. The same holds if it uses a variable on another device. The rules, in ascending priority:
    /// - the device that the node requests; in a body, missing parts of the name come from the node that runs the body;
    /// - the default device, or the one that a placer has chosen, if no type is requested;
    /// - the device of the node that it is colocated with, for a node without a request;
    /// - the CPU, for a node without a request that is colocated with one that has only a CPU kernel;
    /// - the device of the node that runs the body, unless it is the default, for nodes without a request;
    /// - the default device of another task, for nodes with bodies and no request that write only that task's variables;
    /// - the device of another loop, for a loop without a request that reads kept values of that loop;
    /// - the CPU, for ops that host code runs: ops on strings and resources, with data-dependent shapes, or that may wait;
    /// - the CPU, for ops without a kernel for the device, if `soft` permits it or no device is requested;
    /// - the CPU, for variables without room on the device, if `soft` permits it;
    /// - the device of the variable, for an op that writes it or asks whether it is initialized.
    const device& device_of(const node& n);

    /// Returns the task of a local session.
    static std::span<const device_name> local_task();

private:
    /// Returns the first CPU of the task of a device.
    const device& cpu_of(const device_name& task) const;
    const device& decide(const node& n);
    /// Returns the device that a node requests; null if it requests no device type.
    const device* requested(const node& n) const;
    /// Returns the name that a node requests, including parts inherited from the nodes around it.
    device_name request_of(const node& n) const;
    const device& beside_variables(const node& n, const device& there);
    /// Returns a node, its location and its request, for messages.
    std::string described(const node& n);
    /// Returns the nodes of the graph that are colocated with a node.
    detail::vector<const node*> colocated_with(const node& n);
    /// Returns false if a node colocated with `n` has only a CPU kernel.
    bool runs_group(const node& n, const device& there);
    /// Returns the room left in a memory; `mutex_` must be locked.
    double& room_in(const memory_space* space);
    /// Returns the device passed to choose() for a node; null if there is none.
    const device* choice_of(const node& n) const;
    /// Returns true if the room in the device's memory is known: the device belongs to the default device's task, which is this process.
    bool counts_room(const device& d) const;
    /// Records the node's device for its bodies. Nodes in the bodies inherit its request.
    void note_regions(const node& n, const device* decided);
    /// The graph and number of a node. A node that runs in place of primitives, one in each plan, has those of the first of them.
    using node_key = std::pair<const graph_state*, std::uint32_t>;
    static node_key key_of(const node& n) { return {n.owner, n.id}; }
    /// Returns the device of the node that runs the node's body; null if this is the default device.
    const device* enclosing_device(const node& n) const;
    /// Returns true if the node that runs the node's body is placed.
    bool is_in_placed_body(const node& n) const;
    /// Returns the default device of the single task that has all variables written in the bodies; null if this is the default task.
    const device* task_of_variables(const node& n);

    const device_set devices_;
    const device& default_;
    const bool soft_;
    const report_function report_;
    const placers placer_;
    const std::shared_ptr<cost_record> costs_;
    mutable std::mutex mutex_;
    detail::hash_map<const node*, const device*> known_;     // nodes of graphs
    detail::hash_map<node_key, const device*> chosen_;       // chosen by a placer, or an earlier placement
    detail::hash_set<const node*> moved_;                    // to another type of device
    detail::hash_set<std::string> replacements_;             // names of replacement nodes, which are in no graph
    detail::hash_map<const region*, device_name> inherited_; // per region: the request of the node that runs it
    detail::hash_map<const region*, const device*> enclosing_device_; // per region: the device decided for that node

    /// The colocated nodes of a graph, by the node whose device they take.
    struct colocations {
        std::weak_ptr<const void> life; // life of the graph
        std::size_t seen = 0;           // number of nodes examined
        detail::hash_map<const node*, detail::vector<const node*>> of;
    };
    detail::hash_map<const graph_state*, colocations> colocations_;
    detail::hash_map<const memory_space*, double> room_; // free bytes when first read, less the variables placed since
    /// Of a placer by cost, per node of a body built from primitives: the device decided for the node that runs it; null if none.
    detail::hash_map<node_key, const device*> enclosing_of_functionalized_;
};

/// Gives every item the device of its node.
subgraph place(subgraph g, placement& where);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/place.ipp>
#endif
