// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/split_into_stages.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/passes/constant_folder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true if `is` holds for a node of the body.
template <class Is> bool has_node(const body& b, const Is& is) {
    if (b.functionalized) return detail::any_of(b.functionalized->nodes, [&](const node* n) { return is(*n); });
    std::vector<const node*> open(b.effects), seen;
    const auto visit = [&](const endpoint& e) {
        if (e && e.from->inside == b.of && !detail::contains(b.arguments, e)) open.push_back(e.from);
    };
    for (const auto& r : b.results) visit(r);
    while (!open.empty()) {
        const node* n = open.back();
        open.pop_back();
        if (detail::contains(seen, n)) continue;
        if (is(*n)) return true;
        seen.push_back(n);
        for (const auto& e : n->inputs) visit(e);
        for (const auto* c : n->control_inputs)
            if (c->inside == b.of) open.push_back(c);
    }
    return false;
}

/// Returns true if the node is dynamic whatever its inputs are.
inline bool is_dynamic(const node& n) {
    // primitives within a body are functionalized only when the body is compiled, so they count as dynamic here
    if (n.op->has_dynamic_outputs() || n.op->is_async() || n.op->flow()) return true;
    if (!n.bodies) return false;
    if (n.bodies->sized) return true;
    const auto& use = *n.op->regions();
    if (use.how == region_attributes::form::repeat && n.outputs.size() > static_cast<std::size_t>(use.operands))
        return true;
    return detail::any_of(*n.bodies, [](const body& b) { return has_node(b, needs_dynamic_execution); });
}

/// The constness of a value: constant by itself, constant if its inputs are, or known only to a run. Constants and values that follow
/// from types are constant by themselves. Host kernels fold the second kind (constant_folder).
enum class constness { itself, its_inputs, the_run };
inline constness constness_when_bound(const op& made) {
    if (made.constant() || made.follows_from_types()) return constness::itself;
    return may_be_folded(made) ? constness::its_inputs : constness::the_run;
}

/// Returns true if a value is constant. Walks back through its inputs: `kind` gives the constness of a place, `inputs` appends its
/// inputs.
template <class Place, class Kind, class Inputs>
bool is_known(const Place& from, const Kind& kind, const Inputs& inputs) {
    std::vector<Place> open{from}, seen;
    while (!open.empty()) {
        const Place at = open.back();
        open.pop_back();
        if (detail::contains(seen, at)) continue;
        seen.push_back(at);
        const constness by = kind(at);
        if (by == constness::the_run) return false;
        if (by == constness::itself) continue;
        const std::size_t before = open.size();
        inputs(at, open);
        if (open.size() == before) return false; // no inputs: an argument
    }
    return true;
}

/// Returns true if the node's shape rule reads a value that only a run computes. `known(i)` is true if input i is constant.
template <class Known> bool data_decides_shape(const node& n, const Known& known) {
    const auto read = n.op->shape_inputs();
    if (read.empty() || detail::all_of(n.outputs, [](const tensor_type& t) { return t.shape.complete(); }))
        return false;
    return detail::any_of(read, [&](int i) { return i < static_cast<int>(n.inputs.size()) && !known(i); });
}

RILL_COLD bool needs_dynamic_execution(const node& n) {
    return is_dynamic(n) || data_decides_shape(n, [&](int i) {
               return is_known(
                   n.inputs[static_cast<std::size_t>(i)].from,
                   [&](const node* at) { // a value from an enclosing region is fed: not constant
                       return at->inside == n.inside ? constness_when_bound(*at->op) : constness::the_run;
                   },
                   [](const node* at, std::vector<const node*>& to) {
                       for (const auto& in : at->inputs) to.push_back(in.from);
                   });
           });
}

RILL_COLD bool may_have_dynamic_shapes(const node& n) {
    if (!n.bodies) return false;
    using form = region_attributes::form;
    const auto how = n.op->regions()->how;
    const auto open = [](const tensor_type& t) { return !t.shape.complete(); };
    if (how != form::call && detail::any_of(n.outputs, open)) return true;
    // a branch that is not taken need not accept the shapes of this run
    if (how == form::choose && detail::any_of(n.inputs, [&](const endpoint& e) { return open(rill::type_of(e)); }))
        return true;
    return detail::any_of(*n.bodies, [](const body& b) { return has_node(b, may_have_dynamic_shapes); });
}

/// Returns true if the item is dynamic. `in_line` is true for the items of the static segment that it would join.
template <class InLine>
bool item_needs_dynamic_execution(const subgraph& g, const subgraph::item& it, const InLine& in_line) {
    if (!it.origin) return false;
    const auto fed_instead = [&](int i) { // the feed replaces a value that was constant when the node was made
        if (i >= static_cast<int>(it.inputs.size())) return false;
        const int feed = g.items[it.inputs[static_cast<std::size_t>(i)].item].feed;
        return feed >= 0 &&
               constness_when_bound(*g.feeds[static_cast<std::size_t>(feed)].from->op) == constness::itself;
    };
    return is_dynamic(*it.origin) || detail::any_of(it.origin->op->shape_inputs(), fed_instead) ||
           data_decides_shape(*it.origin, [&](int i) {
               return is_known(
                   it.inputs[static_cast<std::size_t>(i)].item,
                   [&](int at) {
                       const auto& from = g.items[at];
                       if (from.feed >= 0 || !in_line(at)) return constness::the_run;
                       return from.is_copy() || !from.op ? constness::its_inputs : constness_when_bound(*from.op);
                   },
                   [&](int at, std::vector<int>& to) {
                       for (const auto& v : g.items[at].inputs) to.push_back(v.item);
                   });
           });
}

RILL_COLD bool needs_stages(const subgraph& g) {
    return detail::any_of(g.items, [&](const subgraph::item& it) {
        return item_needs_dynamic_execution(g, it, [](int) { return true; });
    });
}

class stage_splitter {
public:
    explicit stage_splitter(const subgraph& g) : graph_(g), stage_of_(g.items.size(), -1), waits_for_(g.items.size()) {}

    stages run() {
        stages_.values = static_cast<int>(graph_.feeds.size());
        for (std::size_t i = 0; i < graph_.items.size(); ++i) assign(static_cast<int>(i));
        for (std::size_t i = 0; i < graph_.items.size(); ++i) fill(static_cast<int>(i));
        for (const auto& f : graph_.fetches) stages_.fetches.push_back(value_of(f));
        for (const int t : graph_.targets)
            if (auto& p = stages_.all[stage_of_[t]]; !p.alone.origin)
                p.part.targets.push_back(local_.at({stage_of_[t], t}));
        return std::move(stages_);
    }

private:
    /// Returns true if each stage may have a copy of the item: its value exists before the step, and does not change.
    bool is_source(int i) const {
        const auto& it = graph_.items[i];
        if (it.feed >= 0) return true;
        return it.after.empty() && it.inputs.empty() && graph_.role(i) != op_role::ordinary &&
               graph_.role(i) != op_role::control;
    }

    void assign(int i) {
        const auto& it = graph_.items[i];
        if (is_source(i)) return;
        auto& waits = waits_for_[i];
        const auto add = [&](int from) {
            std::vector<int> both;
            std::ranges::set_union(waits, waits_for_[from], std::back_inserter(both));
            waits = std::move(both);
            if (const int p = stage_of_[from]; p >= 0 && stages_.all[p].alone.origin)
                if (const auto at = std::ranges::lower_bound(waits, p); at == waits.end() || *at != p)
                    waits.insert(at, p);
        };
        for (const auto& v : it.inputs) add(v.item);
        for (const int a : it.after) add(a);
        const auto in_line = [&](int other) {
            const int p = stage_of_[other];
            return waits_for_[other] == waits && (p < 0 || !stages_.all[p].alone.origin);
        };
        if (item_needs_dynamic_execution(graph_, it, in_line) || (it.origin && may_have_dynamic_shapes(*it.origin))) {
            stage_of_[i] = static_cast<int>(stages_.all.size());
            stages_.all.emplace_back().alone = it;
            return;
        }
        const auto [at, fresh] = lines_.try_emplace(waits, static_cast<int>(stages_.all.size()));
        if (fresh) stages_.all.emplace_back();
        stage_of_[i] = at->second;
    }

    void fill(int i) {
        const int p = stage_of_[i];
        if (p < 0) return;
        auto& stage = stages_.all[p];
        auto it = graph_.items[i];
        std::vector<int> after;
        for (const int a : it.after) {
            if (stage_of_[a] >= 0 && stage_of_[a] != p) wait_for(p, stage_of_[a]);
            if (stage_of_[a] == p && !stage.alone.origin) after.push_back(local_.at({p, a}));
        }
        if (stage.alone.origin) {
            // the variables that bodies write are inputs without a value
            const auto* use = it.op->regions();
            const auto values = use ? static_cast<std::size_t>(use->operands + use->captures) : it.inputs.size();
            for (std::size_t k = 0; k < values; ++k) take(p, taken_alone(it.inputs[k], p));
            for (std::size_t port = 0; port < it.origin->outputs.size(); ++port)
                stage.outputs.push_back(stages_.values++);
            return;
        }
        for (auto& v : it.inputs) v = inside(p, v);
        it.after.clear();
        for (const int a : after) it.after.push_back(a);
        local_[{p, i}] = static_cast<int>(stage.part.items.size());
        stage.part.items.push_back(std::move(it));
    }

    void wait_for(int p, int before) {
        auto& after = stages_.all[p].after;
        if (!detail::contains(after, before)) after.push_back(before);
    }
    int take(int p, int value) {
        stages_.all[p].inputs.push_back(value);
        return static_cast<int>(stages_.all[p].inputs.size()) - 1;
    }

    /// Returns the value as the items of a static segment see it.
    subgraph::value inside(int p, const subgraph::value& v) {
        auto& stage = stages_.all[p];
        if (stage_of_[v.item] == p) return {local_.at({p, v.item}), v.port};
        const bool copied = stage_of_[v.item] < 0 && graph_.items[v.item].feed < 0; // the stage gets its own source
        const auto [at, fresh] =
            seen_.try_emplace({p, v.item, copied ? 0 : v.port}, static_cast<int>(stage.part.items.size()));
        if (fresh && copied) {
            stage.part.items.push_back(graph_.items[v.item]);
        } else if (fresh) {
            subgraph::item fed;
            fed.feed = take(p, value_of(v, p));
            if (graph_.items[v.item].output_memory(v.port)) fed.device = graph_.items[v.item].device;
            stage.part.feeds.push_back(graph_.items[v.item].feed >= 0 ? graph_.feeds[graph_.items[v.item].feed]
                                                                      : endpoint{graph_.items[v.item].origin, v.port});
            stage.part.items.push_back(std::move(fed));
        }
        return {at->second, copied ? v.port : 0};
    }

    /// Returns the number of a value that another stage reads, or that is fetched.
    int value_of(const subgraph::value& v, int taker = -1) {
        const auto& from = graph_.items[v.item];
        if (from.feed >= 0) return from.feed;
        if (graph_.role(v.item) == op_role::resource && stage_of_[v.item] < 0) {
            const auto [at, fresh] = given_.try_emplace({v.item, v.port}, stages_.values);
            if (fresh) stages_.handles.push_back({from, stages_.values++});
            return at->second;
        }
        int p = stage_of_[v.item];
        if (p < 0) p = stage_of_[v.item] = source_stage(v.item); // a source that is fetched, or read by a dynamic node
        if (taker >= 0 && taker != p) wait_for(taker, p);
        auto& stage = stages_.all[p];
        if (stage.alone.origin) return stage.outputs[v.port];
        const auto [at, fresh] = given_.try_emplace({v.item, v.port}, stages_.values);
        if (fresh) {
            ++stages_.values;
            stage.outputs.push_back(at->second);
            stage.part.fetches.push_back({local_.at({p, v.item}), v.port});
        }
        return at->second;
    }

    /// Returns the number of a value that a dynamic node reads. It reads a variable when it starts, after everything it waits for.
    int taken_alone(const subgraph::value& v, int p) {
        if (stage_of_[v.item] >= 0 || graph_.role(v.item) != op_role::variable) return value_of(v, p);
        const auto after = stages_.all[p].after;
        const int reads = source_stage(v.item);
        stages_.all[reads].after = after;
        stages_.all[reads].outputs.push_back(stages_.values);
        stages_.all[reads].part.fetches.push_back({0, v.port});
        wait_for(p, reads);
        return stages_.values++;
    }

    int source_stage(int i) {
        const int p = static_cast<int>(stages_.all.size());
        stages_.all.emplace_back();
        local_[{p, i}] = 0;
        stages_.all[p].part.items.push_back(graph_.items[i]);
        return p;
    }

    const subgraph& graph_;
    stages stages_;
    std::vector<int> stage_of_;                // per item; -1: a source
    std::vector<std::vector<int>> waits_for_;  // per item: the dynamic stages before it
    hash_map<std::vector<int>, int> lines_;    // static segments, by the dynamic stages before them
    hash_map<std::pair<int, int>, int> local_; // by stage and item: the item's index in the stage
    hash_map<std::tuple<int, int, int>, int> seen_;
    hash_map<std::pair<int, int>, int> given_;
};

RILL_COLD stages split_into_stages(const subgraph& g) { return stage_splitter(g).run(); }

}}} // namespace rill::RILL_ABI::detail
