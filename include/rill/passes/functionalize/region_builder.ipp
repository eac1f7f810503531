// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/functionalize/region_builder.hpp>

#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/shared.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD region_builder::region_builder(const flow_graph& g, inside_function inside, const endpoint_map& same,
                                         std::vector<endpoint> arguments)
    : g_(g), inside_(std::move(inside)), arguments_(std::move(arguments)) {
    if (g.asked().part) same_ = g.asked().part->same;
    for (const auto& [from, to] : same) same_.try_emplace(from, to);
}

RILL_COLD void region_builder::give(const endpoint& result) {
    if (!result) return results_.push_back({});
    results_.push_back(followed(same_, result));
    take(result);
    run();
}

RILL_COLD void region_builder::effect(const node* n) {
    effects_.push_back(n);
    need(n);
    run();
}

RILL_COLD body region_builder::finish(const region* of, bool is_dataflow) const {
    body b;
    b.of = of;
    b.arguments = arguments_;
    b.results = results_;
    b.captures = captures_;
    b.effects = effects_;
    b.functionalized = detail::make_shared<const functionalized_part>(functionalized_part{nodes_, same_, is_dataflow});
    return b;
}

RILL_COLD void region_builder::need(const node* n) {
    if (nodes_.insert(n)) open_.push_back(n);
}

RILL_COLD void region_builder::take(endpoint e) {
    e = followed(same_, e);
    if (detail::contains(arguments_, e)) return;
    if (!g_.fed(e) && inside_(e.from)) return need(e.from);
    if (g_.fed(e) || e.from->op->role() != op_role::constant) note(captures_, e);
}

RILL_COLD void region_builder::run() {
    while (!open_.empty()) {
        const node* n = open_.back();
        open_.pop_back();
        for (const auto& e : n->inputs) take(e);
        if (const auto back = g_.back(n)) take(back);
        for (const int w : n->op->writes()) note(written_, endpoint{written_variable(n->inputs[w]), 0});
        for (const auto* c : g_.control_inputs_of(n))
            if (inside_(c))
                need(c);
            else
                note(waits_, c);
    }
}

}}} // namespace rill::RILL_ABI::detail
