// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/freeze.hpp>

#include <rill/core/hash_map.hpp>
#include <rill/expr/constant.hpp>
#include <rill/graph/op/field_bytes.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/train/saver.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD graph freeze(const session& s, const std::vector<any_tensor>& fetches, const std::source_location& where) {
    std::vector<const node*> wanted;
    for (const auto& f : fetches) {
        if (!f) throw invalid_argument("freeze: a null handle was given");
        if (f.node()->owner != &s.graph().state())
            throw invalid_argument("freeze: '" + f.name() + "' belongs to another graph than the session");
        wanted.push_back(f.node());
    }
    if (wanted.empty()) throw invalid_argument("freeze: no fetches were given");
    auto saved = detail::save_graph(s.graph(), {.wanted = wanted, .initializers = false});
    std::vector<const node*> variables;
    for (const auto& n : saved.nodes) {
        const node* of = s.graph().state().find(n.name);
        if (of->op->role() == op_role::variable) variables.push_back(of);
        if (!of->op->writes().empty())
            throw invalid_argument("freeze: the fetches need '" + n.name +
                                   "', which writes a variable; a frozen graph has only constants");
    }
    const auto values = detail::variable_values(s, variables);
    detail::hash_map<std::string, const any_array*> value_of;
    for (const auto& v : values) value_of[v.name] = &v.value;
    detail::hash_set<std::uint32_t> frozen;
    for (std::uint32_t i = 0; i < saved.nodes.size(); ++i) {
        auto& n = saved.nodes[i];
        if (!value_of.contains(n.name)) continue;
        const op_ptr made = make_op(constant_op{*value_of.at(n.name)});
        n.op = made->kernel_name();
        n.version = made->version();
        n.fields = bytes_of_fields(*made);
        frozen.insert(i);
    }
    for (auto& c : saved.collections) std::erase_if(c.members, [&](const auto& e) { return frozen.contains(e.node); });
    std::erase_if(saved.collections, [](const auto& c) { return c.members.empty(); });
    return detail::load_graph(saved, where);
}

}} // namespace rill::RILL_ABI
