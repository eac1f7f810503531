// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/partition.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/graph/op/exchange_ops.hpp>
#include <rill/passes/bundle_edges.hpp>
#include <rill/passes/state_groups.hpp>

namespace rill { inline namespace RILL_ABI {

/// One application of the pass.
class exchange_inserter::inserting {
public:
    inserting(exchange_inserter& of, subgraph g)
        : of_(of), ops_(*detail::registered_exchange_ops.load()), g_(std::move(g)), now_(g_.items.size(), -1),
          eager_(g_.items.size()) {
        for (const auto& it : g_.items)
            of_.takes_turns_ = of_.takes_turns_ || (it.op && it.op->ordering() != step_ordering::none);
    }

    subgraph run() && {
        find_parts();
        if (of_.where_.size() < 2) return std::move(g_);
        find_crossing();
        for (int i = 0; i < static_cast<int>(g_.items.size()); ++i) {
            auto it = g_.items[i];
            for (auto& a : it.after) a = waited_for(a, it.part);
            const auto shape_only = it.shape_only_inputs();
            for (std::size_t k = 0; k < it.inputs.size(); ++k)
                it.inputs[k] = detail::contains(shape_only, static_cast<std::int32_t>(k))
                                   ? shape_of(it.inputs[k], it.part)
                                   : read(it.inputs[k], it.part, it.after);
            now_[i] = static_cast<int>(items_.size());
            items_.push_back(std::move(it));
            for (const auto& [port, to] : eager_[i]) (void)pair(i, port, to, {});
        }
        for (auto& f : g_.fetches) f.item = now_[f.item];
        for (auto& t : g_.targets) t = now_[t];
        g_.items = std::move(items_);
        return std::move(g_);
    }

private:
    static constexpr int control = -1; // port of a control edge

    void find_parts() {
        detail::state_groups groups(g_);
        for (int i = 0; i < static_cast<int>(g_.items.size()); ++i) {
            if (detail::is_repeated(g_, i)) continue;
            const int first = groups.first(i);
            g_.items[i].part = first == i ? number_of(of_.part_of_(*g_.items[i].device)) : g_.items[first].part;
        }
        for (const auto& it : g_.items)
            if (it.op && it.op->role() == op_role::variable) variables_written_.try_emplace(it.origin, false);
        for (const auto& it : g_.items)
            if (it.op)
                for (const int k : it.op->writes())
                    if (const auto* v = g_.items[it.inputs[static_cast<std::size_t>(k)].item].origin)
                        variables_written_[v] = true;
    }
    int number_of(const device& d) {
        const auto at = detail::find(of_.where_, &d);
        if (at == of_.where_.end()) of_.where_.push_back(&d);
        return static_cast<int>(std::find(of_.where_.begin(), of_.where_.end(), &d) - of_.where_.begin());
    }

    /// Returns true if the value depends on the moment at which it is read: a variable that the run writes.
    bool varies(int item) const {
        const auto& it = g_.items[item];
        return it.op && it.op->role() == op_role::variable && variables_written_.at(it.origin);
    }
    bool crosses(int from, int to) const { return g_.items[from].part >= 0 && g_.items[from].part != to; }

    /// Finds what leaves its part as soon as it is computed.
    void find_crossing() {
        const auto note = [&](int from, int port, int to) {
            auto& all = eager_[from];
            if (crosses(from, to) && !detail::contains(all, std::pair(port, to))) all.emplace_back(port, to);
        };
        for (const auto& it : g_.items) {
            if (it.part < 0) continue;
            const auto shape_only = it.shape_only_inputs();
            for (std::size_t k = 0; k < it.inputs.size(); ++k)
                if (const auto& v = it.inputs[k]; !varies(v.item) &&
                                                  !detail::contains(shape_only, static_cast<std::int32_t>(k)) &&
                                                  repeated_value(v.item).empty())
                    note(v.item, v.port, it.part);
            for (const int a : it.after) note(a, control, it.part);
        }
    }

    /// Returns what an item of part `to` waits for in place of old item `a`.
    int waited_for(int a, int to) { return crosses(a, to) ? pair(a, control, to, {}).item : now_[a]; }

    /// Returns the value as part `to` sees it. `after` are the new control inputs of its reader.
    subgraph::value read(const subgraph::value& v, int to, const small_vector<int, 4>& after) {
        if (!crosses(v.item, to)) return {now_[v.item], v.port};
        if (const auto value = repeated_value(v.item); !value.empty()) return repeated(v, value);
        if (!varies(v.item)) return pair(v.item, v.port, to, {});
        // the Send reads the variable at its reader's turn: it waits for what the reader waits for
        std::vector<int> waits;
        for (const int a : after) waits.push_back(a);
        return pair(v.item, v.port, to, waits);
    }

    /// Returns the output of the Receive of a value in part `to`; makes the pair on first use.
    subgraph::value pair(int from, int port, int to, const std::vector<int>& waits) {
        const auto known = pairs_.find(std::tuple(from, port, to, waits));
        if (known != pairs_.end()) return {known->second, 0};
        const auto& source = g_.items[from];
        subgraph::item send;
        send.part = source.part;
        if (port == control)
            send.after.push_back(now_[from]);
        else
            send.inputs.push_back({now_[from], port});
        for (const int a : waits) // each lies in the reader's part, came into it, or is repeated
            send.after.push_back(items_[a].part == send.part || items_[a].part < 0 ? a : returned(a, send.part));
        const auto type = port == control ? tensor_type{dtype::uint8, dims{0}} : source.origin->output(port);
        const int made = exchange(std::move(send), type, to);
        pairs_.try_emplace(std::tuple(from, port, to, waits), made);
        return {made, 0};
    }

    /// Adds a Send, whose op it sets, and its Receive, which it returns.
    int exchange(subgraph::item send, const tensor_type& type, int to) {
        const auto number = static_cast<std::uint32_t>(of_.edges_.size());
        const auto wire = type.type == dtype::float32 ? of_.wire_ : wire_format::as_is;
        of_.edges_.push_back({.number = number,
                              .from = send.part,
                              .to = to,
                              .type = type,
                              .is_control = send.inputs.empty(),
                              .wire = wire});
        send.op = ops_.send(number, wire);
        send.device = host_of(send.part);
        subgraph::item receive;
        send.edge = receive.edge = static_cast<int>(number);
        receive.op = ops_.receive(number, type, wire, of_.takes_turns_);
        receive.part = to;
        receive.device = host_of(to);
        receive.after.push_back(add(std::move(send)));
        return add(std::move(receive));
    }
    int add(subgraph::item it) {
        items_.push_back(std::move(it));
        return static_cast<int>(items_.size()) - 1;
    }

    /// Returns a value of the same type in part `to`, for a reader that needs the shape only. If the run decides the shape, the shape
    /// crosses.
    subgraph::value shape_of(const subgraph::value& v, int to) {
        if (!crosses(v.item, to)) return {now_[v.item], v.port};
        const auto known = stand_ins_.find(std::tuple(v.item, v.port, to));
        if (known != stand_ins_.end()) return {known->second, 0};
        const auto& source = g_.items[v.item];
        const auto& type = source.origin->output(v.port);
        subgraph::item stand_in;
        stand_in.op = ops_.stand_in(type);
        stand_in.part = to;
        stand_in.device = of_.where_[static_cast<std::size_t>(to)];
        if (!type.shape.complete()) {
            subgraph::item shape, send;
            shape.op = ops_.shape();
            shape.part = send.part = source.part;
            shape.device = source.device;
            shape.inputs.push_back({now_[v.item], v.port});
            send.inputs.push_back({add(std::move(shape)), 0});
            const tensor_type extents{dtype::int64, dims{type.shape.known_rank() ? type.shape.rank : dyn}};
            stand_in.inputs.push_back({exchange(std::move(send), extents, to), 0});
        }
        const int made = add(std::move(stand_in));
        stand_ins_.try_emplace(std::tuple(v.item, v.port, to), made);
        return {made, 0};
    }

    /// Returns the item's value if it follows from types that are known, such as a shape: each part then has it as a constant.
    any_array repeated_value(int item) const {
        const auto& it = g_.items[item];
        if (!it.origin || it.op != it.origin->op || !it.op->follows_from_types()) return {};
        std::vector<tensor_type> types;
        for (const auto& e : it.origin->inputs) types.push_back(type_of(e));
        const auto is_open = [](const tensor_type& t) { return !t.shape.complete(); };
        return detail::any_of(types, is_open) ? any_array() : it.op->known(types);
    }
    subgraph::value repeated(const subgraph::value& v, const any_array& value) {
        const auto [at, fresh] = repeated_.try_emplace(v.item, -1);
        if (fresh) {
            subgraph::item constant;
            constant.op = ops_.constant(value);
            at->second = add(std::move(constant));
        }
        return {at->second, 0};
    }

    /// Returns what an item of part `to` waits for in place of new item `a`, which lies in another part.
    int returned(int a, int to) {
        // a Receive stands for its source: wait for that one if it lies in `to`
        const auto at = detail::find_if(pairs_, [&](const auto& p) { return p.second == a; });
        if (at != pairs_.end()) {
            const int source = std::get<0>(at->first);
            return g_.items[source].part == to ? now_[source] : waited_for(source, to);
        }
        const auto old = detail::find(now_, a);
        return waited_for(static_cast<int>(old - now_.begin()), to);
    }

    /// Returns the CPU of a part: the device itself, or the first CPU of its task.
    const device* host_of(int part) const {
        const auto* there = of_.where_[static_cast<std::size_t>(part)];
        if (there->type == &cpu_device()) return there;
        const auto& name = there->full;
        const auto* host = of_.devices_.find({name.job, name.replica, name.task, cpu_device().name, -1});
        return host ? host : &of_.devices_.cpu();
    }

    exchange_inserter& of_;
    const detail::exchange_ops& ops_;
    subgraph g_;
    detail::vector<subgraph::item> items_;
    std::vector<int> now_;                                // per old item
    std::vector<std::vector<std::pair<int, int>>> eager_; // per old item: ports and parts that need it
    detail::hash_map<const node*, bool> variables_written_;
    std::map<std::tuple<int, int, int, std::vector<int>>, int> pairs_; // receives
    std::map<std::tuple<int, int, int>, int> stand_ins_;               // by old item, port and part
    std::map<int, int> repeated_;                                      // by old item
};

RILL_COLD subgraph exchange_inserter::run(subgraph g) { return inserting(*this, std::move(g)).run(); }

RILL_COLD subgraph exchange_inserter::bundle(subgraph g) {
    return bundle_edges(std::move(g), edges_, wire_, takes_turns_);
}

RILL_COLD partition exchange_inserter::take_apart(const subgraph& g) {
    partition made;
    made.edges = edges_;
    for (const auto* d : where_) made.parts.emplace_back().where = d;
    if (made.parts.empty()) made.parts.emplace_back().where = &devices_.cpu(); // feeds and constants alone
    std::map<std::pair<int, int>, int> local;                                  // by part and item
    std::vector<int> parts(g.items.size(), -1);
    const auto here = [&](int p, int i) {
        auto& into = made.parts[static_cast<std::size_t>(p)];
        const auto [at, fresh] = local.try_emplace({p, i}, static_cast<int>(into.steps.items.size()));
        if (!fresh) return at->second;
        auto it = g.items[i];
        if (it.feed >= 0) {
            into.feeds.push_back(it.feed);
            into.steps.feeds.push_back(g.feeds[static_cast<std::size_t>(it.feed)]);
            it.feed = static_cast<int>(into.feeds.size()) - 1;
        }
        into.steps.items.push_back(std::move(it));
        return at->second;
    };
    detail::number_sets sets;
    std::vector<int> writes(g.items.size()); // per item: the writes that it waits for
    for (int i = 0; i < static_cast<int>(g.items.size()); ++i) {
        if (detail::is_repeated(g, i)) continue;
        auto it = g.items[i];
        for (const auto& v : it.inputs) writes[i] = sets.join(writes[i], writes[v.item]);
        for (const int a : it.after) writes[i] = sets.join(writes[i], writes[a]);
        const int p = parts[i] = it.is_copy() ? parts[it.inputs[0].item] : it.part;
        if (p < 0) throw internal("partition: " + g.name_of(i) + " belongs to no part");
        for (auto& v : it.inputs) v.item = here(p, v.item);
        const auto after = std::exchange(it.after, {});
        for (const int a : after)
            if (parts[a] == p) it.after.push_back(here(p, a)); // a feed is there; a Send of another part is received
        // a part does not see what its items wait for through other parts: of writes in the part, its Receives say it
        if (it.edge >= 0 && it.op->is_async())
            for (const int w : sets.members(writes[i]))
                if (parts[w] == p) it.after.push_back(here(p, w));
        if (it.is_write()) writes[i] = sets.join(writes[i], sets.number_of({i}));
        auto& into = made.parts[static_cast<std::size_t>(p)].steps;
        local[{p, i}] = static_cast<int>(into.items.size());
        if (it.edge >= 0 && !it.op->is_async()) into.targets.push_back(static_cast<int>(into.items.size())); // a Send
        into.items.push_back(std::move(it));
    }
    for (std::size_t f = 0; f < g.fetches.size(); ++f) {
        const auto& v = g.fetches[f];
        const int p = std::max(parts[v.item], 0); // any part has a feed or a constant
        auto& into = made.parts[static_cast<std::size_t>(p)];
        into.fetches.push_back(static_cast<int>(f));
        into.steps.fetches.push_back({here(p, v.item), v.port});
    }
    for (const int t : g.targets)
        if (parts[t] >= 0)
            made.parts[static_cast<std::size_t>(parts[t])].steps.targets.push_back(local.at({parts[t], t}));
    return made;
}

}} // namespace rill::RILL_ABI
