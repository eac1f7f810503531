// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE graph_state::graph_state() = default;
RILL_INLINE graph_state::~graph_state() = default;

RILL_INLINE const node* graph_state::add(node_spec spec) {
    const std::lock_guard lock(mutex_);
    validate(spec);
    std::uint64_t key = 0;
    if (spec.share && !spec.op->stateful()) {
        key = sharing_key(spec);
        const auto found = shared_.find(key, [&](std::uint32_t id) { return same(nodes_[id], spec); });
        if (found != detail::hash_index::none) return &nodes_[found];
    }
    auto outputs = spec.outputs.empty() ? infer(spec) : std::move(spec.outputs);
    auto name = free_name(std::move(spec.name), spec.scope_of_its_own);
    const auto* bodies = spec.bodies.empty() ? nullptr : &bodies_.emplace_back(std::move(spec.bodies));
    names_.reserve(nodes_.size() + 1); // first, so that a failure leaves no half-added node
    shared_.reserve(nodes_.size() + 1);
    node& n = nodes_.emplace_back();
    n.owner = this;
    n.id = static_cast<std::uint32_t>(nodes_.size() - 1);
    n.name = std::move(name);
    n.op = std::move(spec.op);
    n.inputs = std::move(spec.inputs);
    n.control_inputs = std::move(spec.control_inputs);
    n.device = std::move(spec.device);
    n.colocated = spec.colocated;
    n.outputs = std::move(outputs);
    n.where = spec.where;
    n.inside = spec.inside;
    n.bodies = bodies;
    names_.add(std::hash<std::string>()(n.name), n.id);
    if (key) shared_.add(key, n.id);
    if (n.op->flow()) primitive_ = n.op.get();
    if (n.op->is_dynamic()) n.op->register_runtime();
    if (n.op->may_be_dynamic()) may_be_dynamic_ = true;
    if (bodies && bodies->first_variant) last_variants_[bodies->first_variant] = &n;
    return &n;
}

RILL_COLD small_vector<tensor_type, 1> graph_state::outputs_of(const node_spec& spec) const {
    validate(spec);
    return infer(spec);
}

RILL_COLD const region* graph_state::add_region(const region* parent, std::string name,
                                                const std::source_location& where) {
    const std::lock_guard lock(mutex_);
    return &regions_.emplace_back(region{parent, static_cast<std::uint32_t>(regions_.size()), std::move(name), where,
                                         static_cast<std::uint32_t>(nodes_.size())});
}

RILL_COLD std::vector<const node*> graph_state::nodes_of(const region* r) const {
    const std::lock_guard lock(mutex_);
    std::vector<const node*> all;
    for (std::size_t i = r->first_node; i < nodes_.size(); ++i)
        if (nodes_[i].inside == r) all.push_back(&nodes_[i]);
    return all;
}

RILL_COLD std::vector<const region*> graph_state::regions() const {
    const std::lock_guard lock(mutex_);
    std::vector<const region*> all;
    for (const auto& r : regions_) all.push_back(&r);
    return all;
}

RILL_COLD const node* graph_state::last_variant(const node* n) const {
    const std::lock_guard lock(mutex_);
    const node* first = first_variant(*n);
    const auto at = last_variants_.find(first);
    return at == last_variants_.end() ? first : at->second;
}

RILL_COLD void graph_state::close_loops(std::span<const loop_edge> edges) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < edges.size(); ++i) {
        check_loop_edge(edges[i]);
        for (std::size_t j = 0; j < i; ++j)
            if (edges[j].merge == edges[i].merge)
                throw invalid_argument("close_loop: '" + edges[i].merge->name + "' is given two back edges");
    }
    for (const auto& e : edges) back_edges_.try_emplace(e.merge, e.back);
}

RILL_COLD void graph_state::check_loop_edge(const loop_edge& e) const {
    if (!e.merge || !e.back) throw failed_precondition("close_loop: a null handle was used");
    const auto refuse = [&](const std::string& why) {
        throw invalid_argument("close_loop: '" + e.merge->name + "' " + why + " (" + place_of(*e.merge) + "; '" +
                               name_of(e.back) + "', made at " + to_string(e.back.from->where) + ")");
    };
    if (e.merge->owner != this || e.back.from->owner != this) refuse("and its back edge belong to different graphs");
    if (e.merge->op->flow().what != control_flow_kind::form::merges || e.merge->inputs.size() != 1)
        refuse("is not a merge of one value, which alone begins a loop");
    if (e.back.from->op->flow().what != control_flow_kind::form::next_iteration)
        refuse("gets '" + name_of(e.back) + "', which comes from no next_iteration");
    if (e.merge->inside != e.back.from->inside) refuse("and its back edge lie in different bodies");
    const auto &first = type_of({e.merge, 0}), &next = type_of(e.back);
    if (first.type != next.type || !rules::compatible(first.shape, next.shape))
        refuse("is " + to_string(first) + ", its back edge is " + to_string(next));
    if (back_edges_.contains(e.merge)) refuse("has a back edge already");
}

RILL_COLD endpoint graph_state::back_edge(const node* merge) const {
    const std::lock_guard lock(mutex_);
    const auto at = back_edges_.find(merge);
    return at == back_edges_.end() ? endpoint() : at->second;
}

RILL_INLINE const node* graph_state::find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    return holder(name);
}

RILL_INLINE std::vector<const node*> graph_state::nodes() const {
    const std::lock_guard lock(mutex_);
    std::vector<const node*> all;
    for (const auto& n : nodes_) all.push_back(&n);
    return all;
}

RILL_COLD std::vector<const node*> graph_state::nodes_from(std::size_t first) const {
    const std::lock_guard lock(mutex_);
    std::vector<const node*> all;
    for (auto k = first; k < nodes_.size(); ++k) all.push_back(&nodes_[k]);
    return all;
}

RILL_INLINE std::size_t graph_state::size() const {
    const std::lock_guard lock(mutex_);
    return nodes_.size();
}

RILL_INLINE std::string graph_state::unique_name(std::string name) {
    const std::lock_guard lock(mutex_);
    auto free = free_name(std::move(name));
    asked_names_[free].scope = true;
    return free;
}

RILL_INLINE void graph_state::add_to_collection(const std::string& name, endpoint e) {
    const std::lock_guard lock(mutex_);
    collections_[name].push_back(e);
}

RILL_INLINE std::vector<endpoint> graph_state::collection(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto at = collections_.find(name);
    return at == collections_.end() ? std::vector<endpoint>() : at->second;
}

RILL_INLINE std::map<std::string, std::vector<endpoint>> graph_state::collections() const {
    const std::lock_guard lock(mutex_);
    return collections_;
}

RILL_INLINE void graph_state::take_scope(const std::string& name) {
    const std::lock_guard lock(mutex_);
    asked_names_[name].scope = true;
}

RILL_INLINE void graph_state::set_initializer(const node* variable, const node* assign) {
    const std::lock_guard lock(mutex_);
    initializers_[variable] = assign;
}

RILL_COLD void graph_state::set_value(const node* variable, any_array value) {
    const std::lock_guard lock(mutex_);
    values_[variable] = std::move(value);
}

RILL_INLINE any_array graph_state::value(const node* variable) const {
    const std::lock_guard lock(mutex_);
    const auto at = values_.find(variable);
    return at == values_.end() ? any_array() : at->second;
}

RILL_INLINE const node* graph_state::initializer(const node* variable) const {
    const std::lock_guard lock(mutex_);
    const auto at = initializers_.find(variable);
    return at == initializers_.end() ? nullptr : at->second;
}

RILL_INLINE void graph_state::release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

RILL_INLINE void graph_state::validate(const node_spec& spec) const {
    check_inputs(spec);
    if (spec.op->regions() || !spec.bodies.empty()) check_bodies(spec);
}

RILL_INLINE void graph_state::check_inputs(const node_spec& spec) const {
    const auto check = [&](const node* n) {
        if (!n)
            throw failed_precondition(spec.op->label() + ": a null handle was used for the node '" + spec.name + "'");
        if (n->owner != this)
            throw invalid_argument(spec.op->label() + ": '" + n->name + "' (made at " + to_string(n->where) +
                                   ") belongs to another graph than the node '" + spec.name + "' being made at " +
                                   to_string(spec.where));
        if (!reaches(n->inside, spec.inside))
            throw invalid_argument(spec.op->label() + ": '" + n->name + "' (made at " + to_string(n->where) +
                                   ") belongs to the body " + text_of(*n->inside) + ", outside which the node '" +
                                   spec.name + "' is being made at " + to_string(spec.where) +
                                   ": what a body computes is seen outside through its results alone");
    };
    for (const auto& e : spec.inputs) check(e.from);
    for (const auto* c : spec.control_inputs) check(c);
    if (spec.colocated) check(spec.colocated);
}

/// Throws invalid_argument if the bodies do not fit their op and node: a loaded file may hold anything.
RILL_COLD void graph_state::check_bodies(const node_spec& spec) {
    const auto require = [&](bool holds, const char* what) {
        if (!holds) throw invalid_argument(spec.op->label() + ": " + what + " (node '" + spec.name + "')");
    };
    const region_attributes* use = spec.op->regions();
    require(use && !spec.bodies.empty(), use ? "it has no bodies" : "it has bodies, and can't run any");
    const auto inputs = static_cast<int>(spec.inputs.size());
    require(use->counts(spec.inputs.size()), "its inputs are not as many as it says");
    require(use->carried >= 0 && use->carried <= use->operands, "its state has more parts than it has operands");
    using form = region_attributes::form;
    const bool chooses = use->how == form::choose;
    require(chooses || spec.bodies.size() == (use->how == form::repeat ? 2u : 1u), "it has another number of bodies");
    require(!chooses || use->operands == 1, "it chooses by one operand");
    require(use->how != form::scan || use->operands > use->carried, "it has no slices to go through");
    const auto fits = [](const endpoint& to, const endpoint& from, bool slice) {
        const auto& given = type_of(from);
        return type_of(to).type == given.type && (!slice || given.shape.rank != 0) &&
               rules::compatible(type_of(to).shape, slice ? rules::slice(given.shape) : given.shape);
    };
    for (const auto& b : spec.bodies) {
        require(b.of && b.of->parent == spec.inside, "a body lies elsewhere");
        require(static_cast<int>(b.arguments.size()) == (chooses ? 0 : use->operands), "a body takes other arguments");
        for (std::size_t a = 0; a < b.arguments.size(); ++a) {
            const auto& e = b.arguments[a];
            require(e && e.from->inside == b.of, "an argument of a body lies elsewhere");
            const bool slice = use->how == form::scan && static_cast<int>(a) >= use->carried;
            if (!fits(e, spec.inputs[a], slice))
                throw invalid_argument(spec.op->label() + ": argument '" + name_of(e) + "' of a body is " +
                                       to_string(type_of(e)) + ", and is given " + (slice ? "slices of " : "") +
                                       to_string(type_of(spec.inputs[a])) + " (node '" + spec.name + "')");
        }
        require(b.captures.size() == b.captured.size(), "what a body takes from outside has no place among the inputs");
        for (std::size_t c = 0; c < b.captures.size(); ++c)
            require(b.captured[c] >= 0 && b.captured[c] < inputs && b.captures[c] &&
                        fits(b.captures[c], spec.inputs[b.captured[c]], false),
                    "what a body takes from outside is another value");
        for (const auto& r : b.results) {
            require(r || chooses, "a body leaves out a result");
            require(!r || reaches(r.from->inside, b.of), "a result of a body lies elsewhere");
        }
        for (const auto* n : b.effects) require(n->inside == b.of, "what a body does lies elsewhere");
    }
}

RILL_INLINE small_vector<tensor_type, 1> graph_state::infer(const node_spec& spec) const {
    small_vector<tensor_type, 3> inputs;
    for (const auto& e : spec.inputs) inputs.push_back(type_of(e));
    struct constants final : input_values {
        const endpoint_list& inputs;
        explicit constants(const endpoint_list& all) : inputs(all) {}
        const any_array* value(std::size_t i) const override { return inputs[i].from->op->constant(); }
    };
    const constants values(spec.inputs);
    try {
        std::vector<std::vector<tensor_type>> bodies;
        for (const auto& b : spec.bodies) {
            auto& given = bodies.emplace_back();
            for (const auto& r : b.results) given.push_back(r ? type_of(r) : tensor_type{});
        }
        std::vector<tensor_type> arguments;
        if (!spec.bodies.empty())
            for (const auto& a : spec.bodies.back().arguments) arguments.push_back(type_of(a));
        return spec.op->outputs({inputs, &values, bodies, arguments});
    } catch (...) {
        detail::rethrow_described([&](const std::string& what) {
            std::string text = spec.op->label() + ": " + what + " (";
            for (std::size_t i = 0; i < inputs.size(); ++i)
                text += name_of(spec.inputs[i]) + " " + to_string(inputs[i]) + (i + 1 < inputs.size() ? ", " : "; ");
            return text + "node '" + spec.name + "', made at " + to_string(spec.where) + ")";
        });
    }
}

RILL_INLINE std::uint64_t graph_state::sharing_key(const node_spec& spec) {
    std::uint64_t h = spec.op->hash();
    for (const auto& e : spec.inputs) h = detail::hash_combine(h, e.from->id * 64u + static_cast<unsigned>(e.port));
    for (const auto* c : spec.control_inputs) h = detail::hash_combine(h, ~static_cast<std::uint64_t>(c->id));
    return h | 1;
}

RILL_INLINE bool graph_state::same(const node& n, const node_spec& spec) {
    return n.inside == spec.inside && !n.bodies && n.inputs == spec.inputs && n.control_inputs == spec.control_inputs &&
           n.device == spec.device && n.colocated == spec.colocated && n.op->equals(*spec.op);
}

RILL_INLINE const node* graph_state::holder(const std::string& name) const {
    const auto id =
        names_.find(std::hash<std::string>()(name), [&](std::uint32_t n) { return nodes_[n].name == name; });
    return id == detail::hash_index::none ? nullptr : &nodes_[id];
}

RILL_INLINE bool graph_state::taken(const std::string& name) const {
    if (holder(name)) return true;
    const auto at = asked_names_.find(name);
    return at != asked_names_.end() && at->second.scope;
}

RILL_INLINE std::string graph_state::free_name(std::string wanted, bool own_scope) {
    if (own_scope ? !holder(wanted) : !taken(wanted)) return wanted;
    auto& asked_for = asked_names_[wanted];
    for (;;)
        if (auto name = wanted + "_" + std::to_string(asked_for.next++); !taken(name)) return name;
}

RILL_INLINE graph::graph() : graph(*new graph_state) {}

RILL_INLINE graph& graph::operator=(const graph& other) noexcept {
    other.state_->retain();
    std::exchange(state_, other.state_)->release();
    return *this;
}

}} // namespace rill::RILL_ABI
