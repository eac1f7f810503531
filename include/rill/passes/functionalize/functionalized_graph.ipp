// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/functionalize/functionalized_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/passes/functionalize/region_builder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD endpoint functionalized_graph::of(const endpoint& e) const {
    return followed(values_, part_ ? followed(part_->same, e) : e);
}

RILL_COLD const node* functionalized_graph::of(const node* n) const {
    const auto at = nodes_.find(n);
    return at == nodes_.end() ? n : at->second;
}

RILL_COLD bool functionalized_graph::waits_for(const node* c) const {
    return c->inside == within_ && (!part_ || part_->nodes.contains(c));
}

RILL_COLD node& functionalized_graph::make(op_ptr op, const std::string& name, const node& in_place_of) {
    auto& n = made_.emplace_back();
    n.owner = in_place_of.owner;
    n.id = in_place_of.id;
    n.name = name;
    n.op = std::move(op);
    n.device = in_place_of.device;
    n.colocated = in_place_of.colocated;
    n.where = in_place_of.where;
    n.inside = in_place_of.inside;
    return n;
}

RILL_COLD endpoint functionalized_graph::number(int value, const node& in_place_of) {
    auto& n = make(ops_.number(value), in_place_of.name + "/index", in_place_of);
    n.outputs.push_back({dtype::int32, {}});
    return {&n, 0};
}

RILL_COLD const node* functionalized_graph::add(region_attributes use, endpoint_list operands,
                                                std::span<const region_builder> walks,
                                                std::span<const node* const> waits, const node& in_place_of,
                                                const std::string& name) {
    std::vector<endpoint> captures, written;
    for (const auto& w : walks)
        for (const auto& e : w.written()) note(written, e);
    node_bodies bodies;
    std::vector<std::vector<tensor_type>> given;
    for (const auto& w : walks) {
        auto& b = bodies.emplace_back(w.finish(in_place_of.inside, use.how == region_attributes::form::call));
        std::erase_if(b.captures, [&](const endpoint& e) { return detail::contains(written, e); });
        for (const auto& e : b.captures) b.captured.push_back(static_cast<int>(operands.size() + note(captures, e)));
        auto& types = given.emplace_back();
        for (const auto& e : b.results) types.push_back(e ? type_of(e) : tensor_type{});
        use.effects = use.effects || detail::any_of(w.nodes(), is_stateful);
    }
    use.operands = static_cast<int>(operands.size());
    use.captures = static_cast<int>(captures.size());
    use.written = static_cast<int>(written.size());
    for (const auto& e : captures) operands.push_back(e);
    for (const auto& e : written) operands.push_back(e);
    std::vector<tensor_type> types;
    for (const auto& e : operands) types.push_back(type_of(e));

    using form = region_attributes::form;
    const auto& like = use.how == form::choose ? ops_.choose : use.how == form::repeat ? ops_.repeat : ops_.call;
    auto& n = make(like->with_regions(use), name, in_place_of);
    n.inputs = std::move(operands);
    for (const auto* c : waits) n.control_inputs.push_back(c);
    for (const auto& t : n.op->outputs({types, nullptr, given})) {
        n.outputs.push_back(t);
        bodies.sized = bodies.sized || !t.shape.complete();
    }
    bodies.sized = bodies.sized || use.how == form::call;
    n.bodies = &bodies_.emplace_back(std::move(bodies));
    return &n;
}

}}} // namespace rill::RILL_ABI::detail
