// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan/staged_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/executor/dynamic_node.hpp>
#include <rill/runtime/plan/plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD staged_plan::staged_plan(const subgraph& g, const session_options& options,
                                   std::shared_ptr<resource_store> resources, const std::shared_ptr<placement>& where)
    : stages_(detail::split_into_stages(g)), resources_(std::move(resources)),
      progress_timeout_(options.progress_timeout) {
    for (auto& p : stages_.all) {
        const bool alone = p.alone.origin;
        lines_.push_back(alone ? nullptr
                               : std::make_unique<plan>(std::move(p.part), options, resources_, where,
                                                        *registered_dynamic_runtime.load()));
        alone_.push_back(alone ? std::make_unique<dynamic_node>(p.alone, options, resources_, where) : nullptr);
    }
    find_pinned(g);
    first_values_.resize(static_cast<std::size_t>(stages_.values));
    for (const auto& h : stages_.handles) {
        handles_.push_back(std::make_unique<dynamic_node>(h.of, options, resources_, where));
        first_values_[h.value] = std::move(handles_.back()->run({}, nullptr, nullptr)[0]);
    }
    find_order();
    find_kept();
}

RILL_COLD staged_plan::~staged_plan() = default;

RILL_COLD void staged_plan::find_pinned(const subgraph& g) {
    std::vector<const node*> written;
    for (const auto& it : g.items) {
        if (!it.origin) continue;
        if (it.op->ordering() != step_ordering::none) return; // later nodes read variables at their turn
        for (const int w : it.op->writes()) written.push_back(g.items[it.inputs[w].item].origin);
    }
    std::vector<int> uses(g.items.size()), of_slices(g.items.size());
    for (const auto& it : g.items)
        for (std::size_t k = 0; k < it.inputs.size(); ++k) {
            ++uses[it.inputs[k].item];
            if (it.op && it.op->reads_slices_of() == static_cast<int>(k)) ++of_slices[it.inputs[k].item];
        }
    for (const auto& f : g.fetches) ++uses[f.item];
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        const auto& it = g.items[i];
        if (!it.origin || it.op->role() != op_role::variable || detail::contains(written, it.origin)) continue;
        const bool large = it.origin->outputs[0].bytes() > variable_state::small_bytes;
        if (!large || uses[i] != 1 || of_slices[i] != 1) pinned_.push_back(it.origin);
    }
}

RILL_COLD void staged_plan::find_order() {
    const auto& all = stages_.all;
    std::vector<int> giver(static_cast<std::size_t>(stages_.values), -1);
    next_.resize(all.size());
    for (std::size_t k = 0; k < all.size(); ++k)
        for (const int v : all[k].outputs) giver[v] = static_cast<int>(k);
    for (std::size_t k = 0; k < all.size(); ++k) {
        std::vector<int> before(all[k].after);
        for (const int v : all[k].inputs)
            if (giver[v] >= 0) before.push_back(giver[v]);
        detail::sort(before);
        before.erase(std::unique(before.begin(), before.end()), before.end());
        for (const int b : before) next_[b].push_back(k);
        missing_.push_back(static_cast<int>(before.size()));
    }
}

/// Finds values of which one node takes ownership. Segments compute them in memory that the node takes over without a copy.
RILL_COLD void staged_plan::find_kept() {
    kept_in_.resize(first_values_.size());
    std::vector<int> takers(first_values_.size()), made(first_values_.size());
    for (const auto& p : stages_.all) {
        for (const int v : p.inputs) ++takers[v];
        for (const int v : p.outputs) made[v] = 1;
    }
    for (const int v : stages_.fetches) ++takers[v];
    for (const auto& p : stages_.all) {
        if (!p.alone.origin || !p.alone.op->takes_ownership()) continue;
        const auto& handle = first_values_[p.inputs[0]];
        if (handle.empty()) continue;
        const auto keeper = find_resource(handle.value<std::int64_t>());
        for (const int v : p.inputs)
            if (keeper && takers[v] == 1 && made[v]) kept_in_[v] = keeper->memory();
    }
}

RILL_COLD void staged_plan::close() const noexcept {
    for (const auto& p : lines_)
        if (p) p->close();
    for (const auto& a : alone_)
        if (a) a->close();
    for (const auto& h : handles_) h->close();
}

}}} // namespace rill::RILL_ABI::detail
