// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/insert_exchanges.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/error.hpp>
#include <rill/core/shared.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/partition.hpp>

// Nodes whose bodies have items of several parts: each part gets its own node with its share of the bodies. A value that another part
// needs is sent inside the body. All parts take the same branch and run the same iterations.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the number of a body's result among its fetches, from which absent values are left out.
inline int fetch_of(const body& b, std::size_t result) {
    int fetch = 0;
    for (std::size_t r = 0; r < result; ++r) fetch += b.results[r] ? 1 : 0;
    return fetch;
}

/// Returns true if the slices of a value along axis 0 have one shape, known before the run.
inline bool has_fixed_slices(const tensor_type& t) {
    if (!t.shape.known_rank()) return false;
    for (int k = 1; k < t.shape.rank; ++k)
        if (t.shape[k] == dyn) return false;
    return true;
}

/// Returns the first body whose results are the node's: body 0 of a while loop is the condition.
inline std::size_t first_with_results(const region_attributes& use) {
    return use.how == region_attributes::form::repeat ? 1 : 0;
}

RILL_COLD const device* exchange_insertion::part_of_primitives(const node& n) const {
    const device* part = nullptr;
    for (const auto* inner : n.bodies->front().functionalized->nodes) {
        const auto role = inner->op->role();
        if (role == op_role::constant || role == op_role::placeholder) continue;
        const auto& here = of_.part_of_(of_.device_of_(*inner));
        if (part && part != &here) return nullptr;
        part = &here;
    }
    return part;
}

RILL_COLD std::unique_ptr<exchange_insertion::region_cut> exchange_insertion::cut_of(const node& n,
                                                                                     const device& otherwise) {
    auto cut = std::make_unique<region_cut>();
    const auto note = [&](const device* d) {
        if (d && !contains(cut->devices, d)) cut->devices.push_back(d);
    };
    if (runs_dataflow(n)) {
        note(part_of_primitives(n));
        return cut->devices.empty() ? nullptr : std::move(cut);
    }
    cut->is_functionalized = any_of(*n.bodies, [](const body& b) { return b.functionalized != nullptr; });
    for (const auto& b : *n.bodies) {
        auto& pass = cut->bodies.emplace_back(std::make_unique<exchange_insertion>(of_, of_.compile_body_(b)));
        pass->find_homes();
        for (std::size_t i = 0; i < pass->homes_.size(); ++i) {
            note(pass->homes_[i]);
            if (pass->is_split(static_cast<int>(i)))
                for (const auto* d : pass->cuts_[i]->devices) note(d);
        }
    }
    if (cut->is_functionalized && cut->devices.empty()) note(&otherwise);
    if (cut->devices.size() < 2 && !cut->is_functionalized) return cut;
    const auto& use = *n.op->regions();
    for (std::size_t r = 0; r < n.bodies->back().results.size(); ++r) {
        const device* home = nullptr;
        for (auto k = first_with_results(use); k < n.bodies->size() && !home; ++k)
            home = cut->bodies[k]->home_of_result((*n.bodies)[k], r);
        cut->results.push_back(home ? home : cut->devices[0]);
    }
    for (auto& pass : cut->bodies)
        for (int a = 0; a < use.state(); ++a) pass->keep_feed(a, *cut->results[static_cast<std::size_t>(a)]);
    return cut;
}

RILL_COLD const device* exchange_insertion::home_of_result(const body& b, std::size_t result) const {
    if (!b.results[result]) return nullptr;
    const auto& v = g_.fetches[static_cast<std::size_t>(fetch_of(b, result))];
    return is_split(v.item) ? cuts_[v.item]->results[static_cast<std::size_t>(v.port)] : homes_[v.item];
}

RILL_COLD void exchange_insertion::keep_feed(int feed, const device& home) {
    for (std::size_t i = 0; i < g_.items.size(); ++i)
        if (g_.items[i].feed == feed) homes_[i] = &home;
}

RILL_COLD void exchange_insertion::split(int i) {
    const node& n = *g_.items[i].origin;
    auto& cut = *cuts_[i];
    const auto& use = *n.op->regions();
    std::vector<std::vector<part_items>> bodies; // per body and part
    for (std::size_t k = 0; k < cut.bodies.size(); ++k) {
        auto& pass = *cut.bodies[k];
        std::vector<int> fetch_parts;
        if (k < first_with_results(use)) { // every part needs to know whether the loop goes on
            const auto all = pass.g_.fetches;
            pass.g_.fetches.clear();
            for (const auto* d : cut.devices) {
                pass.g_.fetches.push_back(all[0]);
                fetch_parts.push_back(of_.number_of(*d));
            }
        } else {
            for (std::size_t r = 0; r < cut.results.size(); ++r)
                if ((*n.bodies)[k].results[r]) fetch_parts.push_back(of_.number_of(*cut.results[r]));
        }
        auto g = sort_items(order_variable_accesses(pass.run(fetch_parts)));
        bodies.push_back(of_.items_of_parts(g, &fetch_parts));
    }
    for (const auto* d : cut.devices) shares_[i].push_back(make_share(i, of_.number_of(*d), bodies));
}

RILL_COLD exchange_insertion::item_share
exchange_insertion::make_share(int i, int part, std::vector<std::vector<part_items>>& bodies) const {
    const node& n = *g_.items[i].origin;
    const auto& cut = *cuts_[i];
    auto use = *n.op->regions();
    auto share = detail::make_shared<region_share>();
    const auto at = static_cast<std::size_t>(part);
    const auto is_here = [&](std::size_t result) { return of_.where_[at] == cut.results[result]; };
    const auto is_fed = [&](std::size_t body, int feed) {
        return at < bodies[body].size() && contains(bodies[body][at].feeds, feed);
    };
    const auto is_argument = [&](int a) {
        for (std::size_t k = 0; k < bodies.size(); ++k)
            if (is_fed(k, a)) return true;
        return false;
    };
    const auto is_captured = [&](int input) {
        for (std::size_t k = 0; k < bodies.size(); ++k) {
            const auto& b = (*n.bodies)[k];
            for (std::size_t c = 0; c < b.captured.size(); ++c)
                if (b.captured[c] == input && is_fed(k, static_cast<int>(b.arguments.size() + c))) return true;
        }
        return false;
    };
    const auto is_used = [&](const node* variable) {
        return any_of(bodies, [&](const std::vector<part_items>& b) {
            return at < b.size() && any_of(b[at].steps.items, [&](const auto& it) { return it.origin == variable; });
        });
    };
    const auto take = [&](int input, bool is_shape = false) {
        share->inputs.push_back(input);
        share->is_shape.push_back(is_shape);
    };
    const int state = use.state();
    for (int a = 0; a < use.operands; ++a) {
        const bool chooses = use.how == region_attributes::form::choose;
        if (!(chooses || (a < state ? is_here(static_cast<std::size_t>(a)) : is_argument(a)))) continue;
        take(a);
        share->operands.push_back(a);
    }
    const auto is_state = [&](int a) { return a < state; };
    const auto carried = static_cast<int>(std::count_if(share->operands.begin(), share->operands.end(), is_state));
    if (use.how == region_attributes::form::scan && carried == static_cast<int>(share->operands.size())) {
        // without slices of its own, the share needs their number: prefer operands that keep their extents
        int counted = state;
        for (int a = use.operands; a-- > state;)
            if (has_fixed_slices(type_of(n.inputs[static_cast<std::size_t>(a)]))) counted = a;
        take(counted, true);
        share->operands.push_back(counted);
    }
    auto mine = use;
    mine.operands = static_cast<int>(share->operands.size());
    mine.carried = use.how == region_attributes::form::scan ? carried : 0;
    for (int c = use.operands; c < use.operands + use.captures; ++c)
        if (is_captured(c)) take(c);
    mine.captures = static_cast<int>(share->inputs.size()) - mine.operands;
    for (std::size_t w = static_cast<std::size_t>(use.operands + use.captures); w < n.inputs.size(); ++w)
        if (is_used(n.inputs[w].from)) take(static_cast<int>(w));
    mine.written = static_cast<int>(share->inputs.size()) - mine.operands - mine.captures;
    mine.effects = true; // the share sends values
    for (std::size_t r = 0; r < cut.results.size(); ++r)
        if (is_here(r)) share->outputs.push_back(static_cast<int>(r));
    for (std::size_t k = 0; k < bodies.size(); ++k) {
        const auto& b = (*n.bodies)[k];
        auto& own = share->bodies.emplace_back();
        std::vector<int> fetches;
        if (at < bodies[k].size()) {
            own.steps = std::move(bodies[k][at].steps);
            own.feeds = std::move(bodies[k][at].feeds);
            fetches = std::move(bodies[k][at].fetches);
        }
        if (k < first_with_results(use)) {
            own.results.push_back(0);
            continue;
        }
        for (const int r : share->outputs) {
            const auto result = static_cast<std::size_t>(r);
            const auto f = detail::find(fetches, fetch_of(b, result));
            own.results.push_back(b.results[result] ? static_cast<int>(f - fetches.begin()) : -1);
        }
    }
    return {.part = part, .op = n.op->with_regions(mine), .share = std::move(share)};
}

/// Throws unimplemented if the part uses a resource, or writes a variable, of another part.
RILL_COLD void exchange_insertion::check_share(int i, const item_share& p) const {
    const auto& it = g_.items[i];
    const node& n = *it.origin;
    const auto writes = p.op->writes();
    for (std::size_t k = 0; k < p.share->inputs.size(); ++k) {
        const auto& v = it.inputs[static_cast<std::size_t>(p.share->inputs[k])];
        const bool stays = contains(writes, static_cast<std::int32_t>(k)) || g_.role(v.item) == op_role::resource;
        if (!stays || !crosses(v.item, v.port, p.part)) continue;
        const auto& state = *g_.items[v.item].origin;
        const auto name_of_part = [&](int part) { return to_string(of_.where_[static_cast<std::size_t>(part)]->full); };
        throw unimplemented(error_at(
            n, n.op->label(),
            "its bodies are cut between devices, and the nodes of " + name_of_part(p.part) + " use '" + state.name +
                "' (" + std::string(state.op->name()) + ", made at " + to_string(state.where) + "), which lies on " +
                name_of_part(part_at(v.item, v.port)) + "; place them beside it, for example with colocate_with"));
    }
}

RILL_COLD void exchange_insertion::insert_shares(int i) {
    const auto& it = g_.items[i];
    std::vector<subgraph::item> made;
    std::vector<int> before; // the control inputs of the whole node
    for (const auto& p : shares_[i]) {
        check_share(i, p);
        auto& own = made.emplace_back();
        own.origin = it.origin;
        own.op = p.op;
        own.part = p.part;
        own.device = host_of(p.part);
        own.share = p.share;
        for (const int a : it.after) wait_for(own.after, a, p.part);
        for (const int a : own.after) before.push_back(a);
        for (std::size_t k = 0; k < p.share->inputs.size(); ++k) {
            const auto& v = it.inputs[static_cast<std::size_t>(p.share->inputs[k])];
            own.inputs.push_back(p.share->is_shape[k] ? shape_of(v, p.part) : read(v, p.part, own.after));
            before.push_back(own.inputs.back().item);
            for (const int other : shares_of(v.item)) before.push_back(other);
        }
    }
    // A share waits inside for the other shares. So the order must not put an item needed by one share after another share. The edges
    // between parts are dropped when the parts are separated.
    for (std::size_t k = 0; k < made.size(); ++k) {
        order_after(made[k], before);
        shares_[i][k].item = add(std::move(made[k]));
    }
}

}}} // namespace rill::RILL_ABI::detail
