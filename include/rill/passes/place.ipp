// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/place.hpp>

#include <cstddef>
#include <limits>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/platform.hpp>
#include <rill/core/program.hpp>
#include <rill/core/small_vector.hpp>
#include <rill/device/kernel_registry.hpp>
#include <rill/graph/graph.hpp>
#include <rill/passes/cost_model.hpp>
#include <rill/passes/place_by_cost.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the beginning of a placement error.
inline std::string placed_node(const node& n) {
    return "placement: '" + n.name + "' (" + std::string(n.op->name()) + ", made at " + to_string(n.where) + ") ";
}

inline bool has_text(const node& n) {
    const auto is_text = [](const tensor_type& t) { return t.type == dtype::string; };
    return detail::any_of(n.outputs, is_text) ||
           detail::any_of(n.inputs, [&](const endpoint& e) { return is_text(type_of(e)); });
}

/// Returns true if only host code can run the node.
inline bool runs_on_host(const node& n) {
    if (n.op->delivers_to_device() && !has_text(n)) return false; // the node's device says where its outputs lie
    if (n.op->has_dynamic_outputs() || n.op->is_async() || n.op->role() == op_role::resource || has_text(n))
        return true;
    // the dataflow executor passes values through host memory
    return n.bodies &&
           detail::any_of(*n.bodies, [](const body& b) { return b.functionalized && b.functionalized->is_dataflow; });
}

/// Returns true if this program has a kernel of the node for the CPU, but none for the device type.
inline bool lacks_kernel(const node& n, const device_type& type) {
    if (&type == &cpu_device() || n.bodies || n.op->flow() || n.op->role() != op_role::ordinary) return false;
    small_vector<tensor_type, 4> inputs;
    for (const auto& e : n.inputs) inputs.push_back(type_of(e));
    const auto refuses = [&](const tensor_type& t) { return type.has_kernels_for && !type.has_kernels_for(t.type); };
    if (detail::any_of(inputs, refuses) || detail::any_of(n.outputs, refuses)) return true;
    if (const auto* spec = n.op->fused())
        return !find_kernel(type.name, fusion_group::name, dtype::invalid) ||
               (type.can_run && !type.can_run(type, *spec));
    const auto by = n.op->kernel_type({inputs.data(), inputs.size()}, {n.outputs.data(), n.outputs.size()});
    return !find_kernel(type.name, n.op->kernel_name(), by) && find_kernel(cpu_device().name, n.op->kernel_name(), by);
}

/// Returns true if a variable determines where the node runs.
inline bool follows_variable(const node& n) { return !n.op->writes().empty() || !n.op->may_be_uninitialized().empty(); }

/// Returns true if the node must have a kernel for the device of the node that it is colocated with. A look-up in a variable need not run
/// beside it, and host code runs on the CPU of the task.
inline bool needs_kernel_beside(const node& n) {
    return n.colocated && n.op->colocated_input() < 0 && !follows_variable(n) && !runs_on_host(n);
}

/// Returns the bytes of a variable; 0 for other nodes, and if an extent is unknown.
inline double bytes_of_variable(const node& n) {
    const bool is_known = n.op->role() == op_role::variable && n.outputs[0].shape.complete();
    return is_known ? static_cast<double>(n.outputs[0].bytes()) : 0;
}

/// Returns the loop whose kept values the node, also a loop, reads; null if there is none. Kept values may be a tensor list, which stays
/// in its memory.
inline const node* loop_that_kept_values(const node& n) {
    if (!n.bodies) return nullptr;
    for (const auto& e : n.inputs) {
        const int state = e.from->bodies ? e.from->op->regions()->state() : 0;
        if (state > 0 && e.port >= state) return e.from;
    }
    return nullptr;
}

} // namespace detail

RILL_COLD std::span<const device_name> placement::local_task() {
    static const device_name& local = *new device_name{"localhost", 0, 0, "", -1}; // leaked: sessions may be static
    return {&local, 1};
}

RILL_COLD placement::placement(const device_counts& counts, std::span<const device_name> tasks,
                               const device_type& by_default, bool soft, report_function report, placers placer,
                               std::shared_ptr<cost_record> costs, const gpu_options& gpu)
    : devices_(counts, tasks, gpu), default_(devices_.first(by_default) ? *devices_.first(by_default) : devices_.cpu()),
      soft_(soft), report_(std::move(report)), placer_(placer), costs_(std::move(costs)) {}

RILL_COLD const device& placement::device_of(const node& n) {
    const node& first = *first_variant(n); // the variants of a loop or branch are one run
    {
        const std::lock_guard lock(mutex_);
        if (const auto at = known_.find(&first); at != known_.end()) return *at->second;
    }
    const device* there = &decide(first);
    const bool in_graph = first.owner && first.owner->find(first.name) == &first;
    bool is_new = false;
    {
        const std::lock_guard lock(mutex_);
        if (in_graph) {
            const auto [at, is_first] = known_.try_emplace(&first, there);
            there = at->second; // another thread may have placed the node meanwhile
            is_new = is_first;
        } else {
            is_new = replacements_.insert(first.name);
        }
        const double bytes = detail::bytes_of_variable(first);
        if (is_new && bytes > 0 && counts_room(*there)) room_in(there->space) -= bytes;
    }
    if (is_new && report_) report_(first, *there); // without the lock: this calls the log sink
    return *there;
}

RILL_COLD const device& placement::cpu_of(const device_name& task) const {
    return *devices_.find({task.job, task.replica, task.task, cpu_device().name, -1});
}

RILL_COLD bool placement::is_free(const node& n) const {
    {
        const std::lock_guard lock(mutex_);
        if (known_.contains(first_variant(n)) || chosen_.contains(key_of(*first_variant(n)))) return false;
    }
    const node& beside = placed_with(n);
    return !is_in_placed_body(n) && !requested(n) && (&beside == &n || is_free(beside));
}

RILL_COLD bool placement::is_in_placed_body(const node& n) const {
    const std::lock_guard lock(mutex_);
    return (n.inside && inherited_.contains(n.inside)) || enclosing_of_functionalized_.contains(key_of(n));
}

RILL_COLD bool placement::may_move(const node& n) const {
    if (n.op->role() != op_role::ordinary || n.bodies || detail::follows_variable(n)) return false;
    const std::lock_guard lock(mutex_);
    return chosen_.contains(key_of(n));
}

RILL_COLD bool placement::is_placed(const node& n) const {
    const std::lock_guard lock(mutex_);
    return known_.contains(first_variant(n));
}

RILL_COLD bool placement::can_run(const node& n, const device& there) {
    return !(there.space && detail::runs_on_host(n)) && !detail::lacks_kernel(n, *there.type) && runs_group(n, there);
}

RILL_COLD void placement::choose(const node& n, const device& there) {
    const node& first = *first_variant(n);
    {
        const std::lock_guard lock(mutex_);
        chosen_[key_of(first)] = &there;
        if (!known_.contains(&first)) return;
    }
    const device& now = decide(first);
    bool moves = false;
    {
        const std::lock_guard lock(mutex_);
        auto& known = known_.at(&first);
        moves = known != &now;
        if (known->type != now.type) moved_.insert(&first);
        known = &now;
    }
    if (moves && report_) report_(first, now);
}

RILL_COLD bool placement::has_moved(const node& n) const {
    const std::lock_guard lock(mutex_);
    return moved_.contains(first_variant(n));
}

RILL_COLD double& placement::room_in(const memory_space* space) {
    if (const auto at = room_.find(space); at != room_.end()) return at->second;
    const bool asks = space && space->free_bytes;
    const std::size_t bytes = !space ? detail::host_memory() : asks ? space->free_bytes(*space) : space->bytes;
    const bool is_known = asks || bytes > 0;
    const double room = is_known ? static_cast<double>(bytes) : std::numeric_limits<double>::infinity();
    return room_.try_emplace(space, room).at->second;
}

RILL_COLD bool placement::counts_room(const device& d) const { return detail::same_task(d, default_); }

RILL_COLD const device* placement::choice_of(const node& n) const {
    const std::lock_guard lock(mutex_);
    const auto at = chosen_.find(key_of(n));
    return at == chosen_.end() ? nullptr : at->second;
}

RILL_COLD double placement::free_bytes(const memory_space* space) {
    const std::lock_guard lock(mutex_);
    return room_in(space);
}

RILL_COLD detail::vector<const node*> placement::colocated_with(const node& n) {
    if (!n.owner) return {};
    const std::lock_guard lock(mutex_);
    auto& all = colocations_[n.owner];
    if (all.life.expired()) all = {n.owner->life(), 0, {}};
    for (const auto* other : n.owner->nodes_from(all.seen)) {
        ++all.seen;
        if (other->colocated) all.of[&placed_with(*other)].push_back(other);
    }
    const auto at = all.of.find(&n);
    return at == all.of.end() ? detail::vector<const node*>() : at->second;
}

RILL_COLD bool placement::runs_group(const node& n, const device& there) {
    if (there.type == &cpu_device()) return true;
    return detail::none_of(colocated_with(n), [&](const node* other) {
        return detail::needs_kernel_beside(*other) && detail::lacks_kernel(*other, *there.type);
    });
}

RILL_COLD const device& placement::decide(const node& n) {
    const device* const chosen = choice_of(n);
    const bool is_kept = chosen && n.op->role() == op_role::variable; // its state may lie on that device
    const device* there = is_kept ? chosen : requested(n);
    const bool is_requested = there;
    if (!there) {
        const node* loop = detail::loop_that_kept_values(n);
        there = loop ? &device_of(*loop) : chosen;
        if (!there && n.bodies && request_of(n) == device_name{}) there = task_of_variables(n);
        if (!there) there = enclosing_device(n);
        if (const node& beside = placed_with(n); !there && &beside != &n) there = &device_of(beside);
        if (!there) there = &default_;
        if (!runs_group(n, *there)) there = &cpu_of(there->full);
    }
    note_regions(n, is_requested || there == &default_ ? nullptr : there);
    if (there->space && detail::runs_on_host(n)) there = &cpu_of(there->full);
    if (n.op->writes().empty() && detail::lacks_kernel(n, *there->type)) {
        const node& beside = placed_with(n);
        if (!soft_ && detail::needs_kernel_beside(n) && &device_of(beside) == there)
            throw invalid_argument(detail::placed_node(n) +
                                   (n.device.empty() ? "asks for no device" : "asks for '" + n.device + "'") +
                                   " and is colocated with " + described(beside) +
                                   ", for which this program has no kernel of the op; it has one for the CPU "
                                   "(allow_soft_placement would run it there)");
        if (requested(n) && !soft_ && !detail::follows_variable(n))
            throw invalid_argument(detail::placed_node(n) + "asks for device '" + to_string(request_of(n)) +
                                   "', for which this program has no kernel of the op; it has one for the CPU "
                                   "(allow_soft_placement would run it there)");
        there = &cpu_of(there->full);
    }
    if (soft_ && !is_kept && there->space && counts_room(*there) &&
        detail::bytes_of_variable(n) > free_bytes(there->space))
        there = &cpu_of(there->full);
    return n.bodies ? *there : beside_variables(n, *there); // bodies write each variable where it lies
}

RILL_COLD std::string placement::described(const node& n) {
    const auto asked = to_string(request_of(n));
    return "'" + n.name + "' (made at " + to_string(n.where) + ", " +
           (asked.empty() ? "which asks for no device" : "which asks for '" + asked + "'") + ") lies on " +
           to_string(device_of(n).full);
}

RILL_COLD const device& placement::beside_variables(const node& n, const device& there) {
    const auto variable = [&](int input) -> const device* {
        const node* v = written_variable(n.inputs[static_cast<std::size_t>(input)]);
        return v->op->role() == op_role::variable ? &device_of(*v) : nullptr;
    };
    const device* beside = nullptr;
    const node* first = nullptr; // the variable there
    for (const int k : n.op->may_be_uninitialized())
        if (const auto* here = variable(k))
            beside = here, first = written_variable(n.inputs[static_cast<std::size_t>(k)]);
    const device* written = nullptr;
    for (const int k : n.op->writes()) {
        const auto* here = variable(k);
        if (!here) continue;
        const node& v = *written_variable(n.inputs[static_cast<std::size_t>(k)]);
        if (written && written->space != here->space)
            throw invalid_argument(detail::placed_node(n) +
                                   "writes variables of several devices: " + described(*first) + ", " + described(v));
        if (!written) written = here, first = &v;
    }
    // a scope may name a device for all that is made in it; colocate_with means this node
    const device* const found = written ? written : beside;
    if (const node& beside_this = placed_with(n); found && &beside_this != &n && requested(n) && !soft_) {
        const auto& wanted = device_of(beside_this);
        if (&wanted != found && !request_of(*first).type.empty())
            throw invalid_argument(detail::placed_node(n) + "can't be placed: it is colocated with " +
                                   described(beside_this) + ", and it " +
                                   (written ? "writes a variable: " : "asks whether a variable is initialized: ") +
                                   described(*first) + " (allow_soft_placement would run it beside the variable)");
    }
    return found ? *found : there;
}

RILL_COLD const device* placement::requested(const node& n) const {
    const auto asked = request_of(n);
    if (asked == device_name{}) return nullptr;
    const auto* here = devices_.find({asked.job, asked.replica, asked.task, "", -1});
    if (here && asked.type.empty()) {
        const auto* outer = enclosing_device(n);
        if (outer && detail::same_task(*outer, *here)) return nullptr;
        const auto* of_task = devices_.find({asked.job, asked.replica, asked.task, default_.type->name, -1});
        return of_task == &default_ ? nullptr : of_task;
    }
    if (const auto* found = devices_.find(asked)) return found;
    if (here && soft_) return &cpu_of(here->full);
    std::string have;
    for (const auto* d : devices_.all()) have += (have.empty() ? "" : ", ") + to_string(d->full);
    throw invalid_argument(detail::placed_node(n) + "asks for device '" + to_string(asked) + "'; this session has " +
                           have + (here ? " (allow_soft_placement would run it on the CPU)" : ""));
}

RILL_COLD device_name placement::request_of(const node& n) const {
    const node& asks = placed_with(n);
    auto own = parse_device(asks.device);
    if (!asks.inside) return own;
    const std::lock_guard lock(mutex_);
    const auto at = inherited_.find(asks.inside);
    return at == inherited_.end() ? own : merge(at->second, own);
}

RILL_COLD void placement::note_regions(const node& n, const device* decided) {
    if (!n.bodies) return;
    auto request = request_of(n);
    if (decided) request = merge({decided->full.job, decided->full.replica, decided->full.task, "", -1}, request);
    const std::lock_guard lock(mutex_);
    for (const auto& b : *n.bodies) {
        if (b.functionalized) { // its nodes lie in the region around the node
            if (placer_ == placers::by_cost)
                for (const auto* inner : b.functionalized->nodes)
                    enclosing_of_functionalized_.try_emplace(key_of(*inner), decided);
            continue;
        }
        inherited_.try_emplace(b.of, request);
        if (decided) enclosing_device_.try_emplace(b.of, decided);
    }
}

RILL_COLD const device* placement::enclosing_device(const node& n) const {
    const std::lock_guard lock(mutex_);
    if (const auto at = enclosing_of_functionalized_.find(key_of(n));
        at != enclosing_of_functionalized_.end() && at->second)
        return at->second;
    if (!n.inside) return nullptr;
    const auto at = enclosing_device_.find(n.inside);
    return at == enclosing_device_.end() ? nullptr : at->second;
}

RILL_COLD const device* placement::task_of_variables(const node& n) {
    const device* written = nullptr;
    for (const int k : n.op->writes()) {
        const node* v = written_variable(n.inputs[static_cast<std::size_t>(k)]);
        if (v->op->role() != op_role::variable) continue;
        const auto& here = device_of(*v);
        if (written && !detail::same_task(*written, here)) return nullptr;
        written = &here;
    }
    if (!written || detail::same_task(*written, default_)) return nullptr;
    const auto& task = written->full;
    const auto* there = devices_.find({task.job, task.replica, task.task, default_.type->name, -1});
    return there ? there : &cpu_of(task);
}

RILL_COLD subgraph place(subgraph g, placement& where) {
    if (where.placer() == placers::by_cost) place_by_cost(g, where, cost_model(where.costs().get()));
    for (auto& it : g.items)
        if (it.origin) it.device = &where.device_of(*it.origin);
    return g;
}

}} // namespace rill::RILL_ABI
