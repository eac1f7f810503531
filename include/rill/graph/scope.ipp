// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/scope.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_INLINE const node* checked_node(const node* n, const char* who) {
    if (!n) throw failed_precondition(std::string(who) + ": a null handle was used");
    return n;
}

RILL_EXPORT RILL_INLINE scope_state& scopes() {
    // Objects that die with their thread, or at program exit, may still make graphs. They use a second state, which nothing destroys.
    // It owns no memory while no scope is open.
    static constinit thread_local enum { alive, gone, again } stage = alive;
    alignas(scope_state) static constinit thread_local std::byte later[sizeof(scope_state)] = {};
    struct mortal {
        scope_state state;
        ~mortal() { stage = gone; }
    };
    thread_local mortal own;
    if (stage == alive) return own.state;
    if (std::exchange(stage, again) == gone) new (later) scope_state;
    return *std::launder(reinterpret_cast<scope_state*>(later));
}

} // namespace detail

RILL_INLINE graph default_graph() {
    auto& holder = detail::the_default_graph();
    const std::lock_guard lock(holder.mutex);
    return holder.current;
}

RILL_INLINE void reset_default_graph() {
    auto& holder = detail::the_default_graph();
    const std::lock_guard lock(holder.mutex);
    holder.current = graph();
}

RILL_INLINE graph current_graph() {
    const auto& current = detail::scopes().current;
    return current ? *current : default_graph();
}

RILL_INLINE std::string name_scope::enter(const std::string& name, const std::source_location& where) {
    if (!detail::valid_name(name))
        throw invalid_argument("name_scope: '" + name + "' is not a valid name" + detail::at_place(where));
    return current_graph().state().unique_name(detail::scopes().prefix + name) + "/";
}

RILL_INLINE graph_scope::graph_scope(const graph& g) : scoped(detail::scopes(), entered(g)) {}
RILL_INLINE graph_scope::~graph_scope() = default;

RILL_INLINE detail::scope_state graph_scope::entered(const graph& g) {
    auto state = g == current_graph() ? detail::scopes() : detail::scope_state{};
    state.container = detail::scopes().container; // a container belongs to the process, not to a graph
    state.current = g;
    return state;
}

RILL_INLINE device_scope::device_scope(device_function choose)
    : scoped(detail::scopes().devices, push({std::move(choose), false})) {}
RILL_INLINE device_scope::device_scope(device_function choose, explicitly_t)
    : scoped(detail::scopes().devices, push({std::move(choose), true})) {}

RILL_COLD device_function device_scope::always(const std::string& device, const std::source_location& where) {
    try {
        return [checked = to_string(parse_device(device))](const node_info&) { return checked; };
    } catch (const invalid_argument& problem) {
        throw invalid_argument(std::string("device_scope: ") + problem.what() + detail::at_place(where));
    }
}

RILL_INLINE std::vector<detail::device_choice> device_scope::push(detail::device_choice c) {
    auto stack = detail::scopes().devices;
    stack.push_back(std::move(c));
    return stack;
}

RILL_INLINE control_dependencies::~control_dependencies() {
    auto& scope = detail::scopes();
    const std::size_t now = current_graph().size();
    if (scope.ended_at == now && !scope.ended.empty()) return; // a nested control_dependencies has recorded its list
    scope.ended = scope.control_inputs;
    scope.ended_at = now;
}

namespace detail {

RILL_INLINE std::vector<const node*> control_scope::merged(const std::vector<const node*>& more) {
    auto all = scopes().control_inputs;
    for (const auto* n : more)
        if (!detail::contains(all, n)) all.push_back(n);
    return all;
}

RILL_COLD std::vector<const node*> result_scope::just_ended(const graph& g) {
    auto& scope = scopes();
    auto ended = std::exchange(scope.ended, {});
    if (scope.ended_at != g.size()) ended.clear();
    return ended;
}

RILL_COLD scope_state region_scope::entered(const region* r) {
    auto state = scopes();
    state.inside = r;
    state.control_inputs.clear();
    state.ended.clear();
    state.of_results.clear();
    return state;
}

RILL_INLINE const node* add_node(const graph& g, op_ptr op, endpoint_list inputs, const std::string& name, bool share,
                                 const std::source_location& where, small_vector<const node*, 1> control_inputs) {
    if (!name.empty() && !valid_name(name))
        throw invalid_argument(op->label() + ": '" + name + "' is not a valid name" + detail::at_place(where));
    node_spec spec;
    spec.name = scopes().prefix + (name.empty() ? op->label() : name);
    spec.control_inputs = std::move(control_inputs);
    spec.op = std::move(op);
    spec.inputs = std::move(inputs);
    spec.share = share;
    spec.where = where;
    return add_node(g, std::move(spec));
}

RILL_INLINE const node* colocation_of(const endpoint& e) {
    const node* variable = variable_of(e);
    return variable ? variable : e.from;
}

/// Returns the variable that this input is; null if it is none, or not there.
inline const node* variable_at(const node_spec& spec, int input) {
    const auto at = static_cast<std::size_t>(input);
    return input >= 0 && at < spec.inputs.size() ? variable_of(spec.inputs[at]) : nullptr;
}

/// Sets the device that the open scopes choose. An explicit choice ends the library's own colocation of the node.
RILL_COLD void choose_device(const graph& g, const scope_state& scope, node_spec& spec) {
    spec.outputs = g.state().outputs_of(spec);
    const auto written = spec.op->writes(); // a write runs where its variable is
    const node* const beside = spec.colocated ? spec.colocated : variable_at(spec, written.empty() ? -1 : written[0]);
    const node_info info{spec.name, spec.op->name(), spec.outputs, beside, spec.op.get()};
    device_name device;
    for (const auto& d : scope.devices) {
        const auto chosen = d.choose(info);
        device = merge(device, parse_device(chosen));
        if (d.is_explicit && !chosen.empty()) spec.colocated = scope.colocated;
    }
    spec.device = to_string(device);
}

RILL_INLINE const node* add_node(const graph& g, node_spec spec) {
    const auto& scope = scopes();
    spec.colocated = scope.colocated ? scope.colocated : variable_at(spec, spec.op->colocated_input());
    spec.inside = scope.inside;
    for (const auto& in : spec.inputs) {
        if (spec.where.line() != 0) break;
        if (in) spec.where = in.from->where;
    }
    if (!scope.devices.empty()) choose_device(g, scope, spec);
    const auto wait_for = [&](const node* c) {
        if (!detail::contains(spec.control_inputs, c)) spec.control_inputs.push_back(c);
    };
    for (const auto* c : scope.control_inputs) wait_for(c);
    const bool reads =
        detail::any_of(spec.inputs, [](const endpoint& e) { return e && e.from->op->role() == op_role::variable; });
    for (const auto* c : scope.of_results)
        if (reads || !scope.inside || c->inside != scope.inside) wait_for(c);
    return g.state().add(std::move(spec));
}

RILL_INLINE graph graph_of(std::span<const endpoint> inputs) {
    return inputs.empty() ? current_graph() : graph(*inputs[0].from->owner);
}

} // namespace detail

RILL_INLINE endpoint gradient_request::add_node(op_ptr made, endpoint_list inputs) const {
    return {detail::add_node(graph(*at.owner), std::move(made), std::move(inputs)), 0};
}

}} // namespace rill::RILL_ABI
