// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/dataflow/dataflow_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/shared.hpp>
#include <rill/runtime/plan/plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD dataflow_plan::dataflow_plan(const plan_key& key, const session_options& options,
                                       const std::shared_ptr<resource_store>& resources,
                                       const std::shared_ptr<placement>& where)
    : results_(key.fetches) {
    const flow_graph g({key.fetches, key.targets, key.feeds, key.within, key.functionalized});
    for (std::size_t f = 0; f < g.frames().size(); ++f) {
        const auto* enter = g.frames()[f].enter;
        loops_.push_back({g.parent_of(static_cast<int>(f)),
                          0,
                          0,
                          enter ? enter->op->flow().parallel_iterations : 1,
                          {},
                          g.frames()[f].name});
    }
    hash_map<const node*, int> number;
    for (const auto* n : g.nodes()) {
        number.try_emplace(n, static_cast<int>(steps_.size()));
        add_step(g, n);
    }
    for (const auto* n : g.nodes()) {
        const int to = number.at(n);
        const auto take = [&](const endpoint& e, int input) {
            const int feed = static_cast<int>(detail::find(key.feeds, e) - key.feeds.begin());
            const auto& args = steps_[to].arguments;
            // a step sends a fed value to merges, which count inputs, and to enters: these may run once per outer iteration
            if (const auto what = steps_[to].flow.what;
                g.fed(e) && (what == control_flow_kind::form::merges || what == control_flow_kind::form::enters))
                connect(feed_step(feed), 0, to, input);
            else if (g.fed(e))
                steps_[to].fed[input] = feed;
            else if (!steps_[to].runs || g.frame_of(e.from) != flow_graph::outside || detail::contains(args, input))
                connect(number.at(e.from), e.port, to, input);
        };
        if (!steps_[to].flow) compile(g, steps_[to], options, resources, where);
        for (std::size_t i = 0; i < n->inputs.size(); ++i) take(g.of(n->inputs[i]), static_cast<int>(i));
        if (const auto back = g.back(n)) take(g.of(back), 1);
        for (const auto* c : g.control_inputs_of(n))
            connect(number.at(c), static_cast<int>(steps_[number.at(c)].next.size()) - 1, to, none);
    }
    for (std::size_t r = 0; r < results_.size(); ++r) {
        const auto e = g.of(results_[r]);
        steps_[number.at(e.from)].fetched[e.port] = static_cast<int>(r);
    }
}

RILL_INLINE dataflow_plan::~dataflow_plan() = default;

RILL_COLD void dataflow_plan::add_step(const flow_graph& g, const node* n) {
    step s;
    s.origin = n;
    s.flow = n->op->flow();
    s.frame = s.output_frame = g.frame_of(n);
    if (s.flow.what == control_flow_kind::form::enters) {
        s.frame = loops_[s.output_frame].parent;
        ++loops_[s.output_frame].enters;
    }
    if (s.flow.what == control_flow_kind::form::leaves) {
        s.frame = g.frame_of(g.of(n->inputs[0]).from);
        loops_[s.frame].leaves.push_back(static_cast<int>(steps_.size()));
    }
    s.place = loops_[s.frame].steps++;
    s.next.resize(n->outputs.size() + 1);
    s.fetched.assign(n->outputs.size(), none);
    s.begins = bool(g.back(n));
    s.fed.assign(n->inputs.size() + (s.begins ? 1 : 0), none);
    steps_.push_back(std::move(s));
}

/// Compiles a plan of one node. Computed inputs are its feeds; it reads variables and constants itself.
RILL_COLD void dataflow_plan::compile(const flow_graph& g, step& s, const session_options& options,
                                      const std::shared_ptr<resource_store>& resources,
                                      const std::shared_ptr<placement>& where) {
    static const region alone; // an empty region: all control inputs have run
    const node* n = s.origin;
    plan_key key;
    key.within = &alone;
    for (std::size_t port = 0; port < n->outputs.size(); ++port) key.fetches.push_back({n, static_cast<int>(port)});
    if (n->outputs.empty()) key.targets.push_back(n);
    const auto writes = n->op->writes();
    for (std::size_t i = 0; i < n->inputs.size(); ++i) {
        const auto& e = n->inputs[i];
        const auto role = e.from->op->role();
        const bool written = detail::contains(writes, static_cast<std::int32_t>(i));
        if (written && role != op_role::variable)
            throw unimplemented(n->op->label() + ": '" + n->name + "' writes a variable after '" + e.from->name +
                                "', among primitives of control flow: let it write the variable itself, with a control "
                                "dependency (" +
                                place_of(*n) + ")");
        const bool is_own = role == op_role::constant || role == op_role::variable; // part of the plan, unless fed
        if (written || (is_own && !g.fed(g.of(e)))) continue;
        if (detail::contains(key.feeds, e)) continue;
        key.feeds.push_back(e);
        s.arguments.push_back(static_cast<int>(i));
    }
    s.runs = detail::make_shared<plan>(key, options, resources, where);
}

RILL_COLD void dataflow_plan::connect(int from, int port, int to, int input) {
    std::vector<int> way; // the loops between them, innermost first
    for (int f = steps_[to].frame; f != steps_[from].output_frame; f = loops_[f].parent) way.push_back(f);
    for (; !way.empty(); way.pop_back()) {
        from = brought(from, port, way.back());
        port = input == none ? 1 : 0;
    }
    steps_[from].next[port].push_back({to, input});
    ++(input == none ? steps_[to].controls : steps_[to].data);
}

/// Returns a step that passes an output, or the control edge of a step, into a loop.
RILL_COLD int dataflow_plan::brought(int from, int port, int into) {
    const bool waits = port + 1 == static_cast<int>(steps_[from].next.size());
    for (const auto& e : steps_[from].next[port])
        if (!steps_[e.to].origin && steps_[e.to].output_frame == into) return e.to;
    step s;
    s.flow.what = control_flow_kind::form::enters;
    s.flow.constant = true;
    s.frame = steps_[from].output_frame;
    s.output_frame = into;
    s.place = loops_[s.frame].steps++;
    s.next.resize(2);
    s.fetched.assign(1, none);
    s.fed.assign(1, none);
    ++(waits ? s.controls : s.data);
    ++loops_[into].enters;
    steps_[from].next[port].push_back({static_cast<int>(steps_.size()), waits ? none : 0});
    steps_.push_back(std::move(s));
    return static_cast<int>(steps_.size()) - 1;
}

/// Adds a step that outputs a feed.
RILL_COLD int dataflow_plan::feed_step(int feed) {
    step s;
    s.flow.what = control_flow_kind::form::loop_condition; // this kind passes on its input
    s.place = loops_[0].steps++;
    s.next.resize(2);
    s.fetched.assign(1, none);
    s.fed.assign(1, feed);
    steps_.push_back(std::move(s));
    return static_cast<int>(steps_.size()) - 1;
}

RILL_COLD void dataflow_plan::close() const noexcept {
    for (const auto& s : steps_)
        if (s.runs) s.runs->close();
}

}}} // namespace rill::RILL_ABI::detail
