// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
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

/// The placement of a session's nodes. Each node is placed once, when the first plan that contains it is compiled; the plans of bodies
/// ask the same placement. The device of a node does not depend on the plan, except for stateless nodes of a placer that learns: it may
/// choose again for a later plan. Thread-safe.
class placement {
public:
    using report_function = std::function<void(const node&, const device&)>;

    /// Nodes without a request run on the first device of type `by_default`, or on the CPU if the session has none of that type. `soft`
    /// places a node on the CPU of its task if its device does not exist or can't run it. It does so too with a variable for which the
    /// device has no room. Calls `report` once for each node, and again when a placer moves it.
    placement(const device_counts& counts, const device_type& by_default, bool soft, report_function report = {},
              placers placer = placers::simple)
        : placement(counts, local_task(), by_default, soft, std::move(report), placer) {}
    /// As above, for a session of several tasks, which all have as many devices. Nodes that name no task run on the first one.
    /// `costs`: measured times for the placer; null if it does not learn.
    placement(const device_counts& counts, std::span<const device_name> tasks, const device_type& by_default, bool soft,
              report_function report, placers placer = placers::simple, std::shared_ptr<cost_record> costs = {});

    placers placer() const noexcept { return placer_; }
    /// Returns the measured times of the session's nodes; null if the placer does not learn.
    const std::shared_ptr<cost_record>& costs() const noexcept { return costs_; }
    /// Returns true if a placer may choose the node's device. The node is not placed or chosen for yet, and requests no type of device. The
    /// same holds for the node that it is colocated with.
    bool is_free(const node& n) const;
    /// Returns true if a placer may choose again for a node: it has chosen for it, and the node keeps no state and runs no bodies.
    bool may_move(const node& n) const;
    /// Returns true if the node is placed.
    bool is_placed(const node& n) const;
    /// Returns true if the device can run the node and the nodes that are colocated with it.
    bool can_run(const node& n, const device& there);
    /// Makes a device the default one for a node. A variable lies there even if it requests another one, or the memory has no room: an
    /// earlier placement may have counted it. A node that is placed already moves.
    void choose(const node& n, const device& there);
    /// Returns true if choose() has moved the node, after it was placed, to another type of device. Plans that were compiled before still
    /// run it on the earlier one.
    bool has_moved(const node& n) const;
    /// Returns the bytes that are left in a memory of this process for variables that are not placed yet; infinity if they are unknown.
    /// Null: the host's.
    double free_bytes(const memory_space* space);

    const device_set& devices() const noexcept { return devices_; }
    /// Returns the device of nodes that request none.
    const device& default_device() const noexcept { return default_; }

    /// Returns the device of a node. Throws invalid_argument if the requested device does not exist, or has no kernel of the op. It also
    /// throws if the node writes variables in several memories. A node that is colocated with another one throws if that one's device has no
    /// kernel of it, or if it writes or looks at a variable elsewhere.
    /// The rules, of which later ones win:
    /// - the device that the node requests; in a body, missing parts of the name come from the request of the node that runs the body
    /// - the default device, or the one that a placer has chosen, if no type is requested
    /// - for a node without a request that is colocated with another one: the device of that node
    /// - the CPU, for a node without a request, if its group needs it: a node that is colocated with it has a kernel for the CPU alone
    /// - for a node without a request in a body: the device of the node that runs the body, unless that is the default one
    /// - for a node with bodies and without a request that writes variables of one other task: the default device of that task
    /// - for a loop without a request that reads kept values of another loop: the device of that loop
    /// - the CPU, for ops that host code runs: on strings and resources, with data-dependent shapes, that may wait; and where `soft` allows
    ///   it or no device is requested, for ops without a kernel for the device; where `soft` allows it, for variables without room
    /// - the device of the variable, for an op that writes it or asks whether it is initialized
    const device& device_of(const node& n);

    /// Returns the task of a local session.
    static std::span<const device_name> local_task();

private:
    /// Returns the first CPU of the task of a device.
    const device& cpu_of(const device_name& task) const;
    const device& decide(const node& n);
    /// Returns the device that a node requests; null if it requests no type of device.
    const device* requested(const node& n) const;
    /// Returns the name that a node requests, with the parts that it inherits from the nodes around it.
    device_name request_of(const node& n) const;
    const device& beside_variables(const node& n, const device& there);
    /// Returns a node, its place and what it requests, for messages.
    std::string described(const node& n);
    /// Returns the nodes of the graph that are colocated with a node.
    detail::vector<const node*> colocated_with(const node& n);
    /// Returns false if a node that is colocated with `n` has a kernel for the CPU alone.
    bool runs_group(const node& n, const device& there);
    /// Returns the room that is left in a memory; `mutex_` is locked.
    double& room_in(const memory_space* space);
    /// Returns the device that choose() was given for a node; null if none.
    const device* choice_of(const node& n) const;
    /// Returns true if the room in the device's memory is known: it is one of the default device's task, which is this process.
    bool counts_room(const device& d) const;
    /// Notes the node's device for its bodies. Nodes there inherit its request.
    void note_regions(const node& n, const device* decided);
    /// Returns the device that was decided for the node that runs the node's body; null if that is the default one.
    const device* enclosing_device(const node& n) const;
    /// Returns the default device of the one task that has all variables written in the bodies; null if that is the default task.
    const device* task_of_variables(const node& n);

    const device_set devices_;
    const device& default_;
    const bool soft_;
    const report_function report_;
    const placers placer_;
    const std::shared_ptr<cost_record> costs_;
    mutable std::mutex mutex_;
    detail::hash_map<const node*, const device*> known_;     // nodes of graphs
    detail::hash_map<const node*, const device*> chosen_;    // by a placer, or an earlier placement
    detail::hash_set<const node*> moved_;                    // to another type of device
    detail::hash_set<std::string> replacements_;             // names of nodes in no graph, made in place of others
    detail::hash_map<const region*, device_name> inherited_; // per region: the request of the node that runs it
    detail::hash_map<const region*, const device*> enclosing_device_;  // per region: the device decided for that node

    /// The nodes of a graph that are colocated with others, by the node whose device they take.
    struct colocations {
        std::weak_ptr<const void> life; // of the graph
        std::size_t seen = 0;           // the nodes that have been looked at
        detail::hash_map<const node*, detail::vector<const node*>> of;
    };
    detail::hash_map<const graph_state*, colocations> colocations_;
    detail::hash_map<const memory_space*, double> room_; // bytes, without the variables placed since they were asked for
};

/// Gives every item the device of its node.
subgraph place(subgraph g, placement& where);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/place.ipp>
#endif
