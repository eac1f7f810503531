// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/insert_exchanges.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

#include <rill/core/algorithm.hpp>
#include <rill/passes/partition.hpp>
#include <rill/passes/state_groups.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD exchange_insertion::exchange_insertion(exchange_inserter& of, subgraph g)
    : of_(of), ops_(*registered_exchange_ops.load()), g_(std::move(g)), homes_(g_.items.size()), cuts_(g_.items.size()),
      shares_(g_.items.size()), now_(g_.items.size(), -1), eager_(g_.items.size()) {
    for (const auto& it : g_.items)
        of_.takes_turns_ = of_.takes_turns_ || (it.op && it.op->ordering() != step_ordering::none);
}

RILL_COLD exchange_insertion::~exchange_insertion() = default;

RILL_COLD void exchange_insertion::find_homes() {
    const int n = static_cast<int>(g_.items.size());
    for (int i = 0; i < n; ++i)
        if (const auto* of = g_.items[i].origin; of && of->bodies && of_.compile_body_)
            cuts_[i] = cut_of(*of, of_.part_of_(*g_.items[i].device));
    state_groups groups(g_, [&](int i) { return is_split(i); });
    for (int i = 0; i < n; ++i) {
        if (is_repeated(g_, i) || is_split(i)) continue;
        const int first = groups.first(i);
        const bool follows_bodies = first == i && cuts_[i] && cuts_[i]->devices.size() == 1;
        homes_[i] = first != i       ? homes_[first]
                    : follows_bodies ? cuts_[i]->devices[0]
                                     : &of_.part_of_(*g_.items[i].device);
        if (cuts_[i] && &of_.part_of_(*g_.items[i].device) != homes_[i]) g_.items[i].device = of_.host_of(*homes_[i]);
    }
    for (const auto& it : g_.items)
        if (it.op && it.op->role() == op_role::variable) variables_written_.try_emplace(it.origin, false);
    for (const auto& it : g_.items)
        if (it.op)
            for (const int k : it.op->writes())
                if (const auto* v = g_.items[it.inputs[static_cast<std::size_t>(k)].item].origin)
                    variables_written_[v] = true;
}

RILL_COLD void exchange_insertion::number_parts() {
    for (int i = 0; i < static_cast<int>(g_.items.size()); ++i) {
        if (homes_[i]) g_.items[i].part = of_.number_of(*homes_[i]);
        if (is_split(i))
            for (const auto* d : cuts_[i]->devices) of_.number_of(*d);
    }
}

RILL_COLD subgraph exchange_insertion::run(const std::vector<int>& fetch_parts) {
    number_parts();
    const int n = static_cast<int>(g_.items.size());
    for (int i = 0; i < n; ++i)
        if (is_split(i)) split(i);
    find_crossing(fetch_parts);
    for (int i = 0; i < n; ++i) {
        if (is_split(i)) {
            insert_shares(i);
        } else {
            auto it = g_.items[i];
            const auto asked = std::exchange(it.after, {});
            for (const int a : asked) wait_for(it.after, a, it.part);
            const auto shape_only = it.shape_only_inputs();
            std::vector<int> shares; // control inputs on the item refer to all shares
            for (std::size_t k = 0; k < it.inputs.size(); ++k) {
                const auto v = it.inputs[k];
                it.inputs[k] = contains(shape_only, static_cast<std::int32_t>(k)) ? shape_of(v, it.part)
                                                                                  : read(v, it.part, it.after);
                for (const int p : shares_of(v.item)) shares.push_back(p);
            }
            order_after(it, shares);
            now_[i] = add(std::move(it));
        }
        for (const auto& [port, to] : eager_[i]) (void)pair(i, port, to, {});
    }
    for (std::size_t f = 0; f < g_.fetches.size(); ++f) {
        auto& v = g_.fetches[f];
        v = fetch_parts.empty() ? made_at(v.item, v.port) : read(v, fetch_parts[f], {});
    }
    std::vector<int> targets;
    for (const int t : g_.targets)
        if (!is_split(t)) targets.push_back(now_[t]);
    for (const auto& all : shares_)
        for (const auto& p : all) targets.push_back(p.item); // a share may be without results
    g_.targets = std::move(targets);
    g_.items = std::move(items_);
    return std::move(g_);
}

RILL_COLD int exchange_insertion::control_of(int from, int port) const {
    for (std::size_t k = 0; k < shares_[from].size(); ++k)
        if (port < 0 ? control - static_cast<int>(k) == port : contains(shares_[from][k].share->outputs, port))
            return control - static_cast<int>(k);
    return control;
}

RILL_COLD int exchange_insertion::part_at(int from, int port) const {
    if (shares_[from].empty()) return g_.items[from].part;
    return shares_[from][static_cast<std::size_t>(control - control_of(from, port))].part;
}

RILL_COLD subgraph::value exchange_insertion::made_at(int from, int port) const {
    if (shares_[from].empty()) return {now_[from], port};
    const auto& p = shares_[from][static_cast<std::size_t>(control - control_of(from, port))];
    const auto at = detail::find(p.share->outputs, port);
    return {p.item, static_cast<int>(at - p.share->outputs.begin())};
}

RILL_COLD tensor_type exchange_insertion::type_at(int from, int port) const {
    if (port < 0) return {dtype::uint8, dims{0}};
    const auto& it = g_.items[from];
    return it.feed >= 0 ? type_of(g_.feeds[static_cast<std::size_t>(it.feed)]) : it.origin->output(port);
}

/// Returns true if the value depends on the time of its read: a variable that the run writes.
RILL_COLD bool exchange_insertion::varies(int item) const {
    const auto& it = g_.items[item];
    return it.op && it.op->role() == op_role::variable && variables_written_.at(it.origin);
}

/// Finds the values that are sent to other parts as soon as they are computed.
RILL_COLD void exchange_insertion::find_crossing(const std::vector<int>& fetch_parts) {
    const auto note = [&](int from, int port, int to) {
        auto& all = eager_[from];
        if (crosses(from, port, to) && !contains(all, std::pair(port, to))) all.emplace_back(port, to);
    };
    const auto note_value = [&](const subgraph::value& v, int to) {
        if (!varies(v.item) && repeated_value(v.item).empty()) note(v.item, v.port, to);
    };
    const auto note_control = [&](int a, int to) {
        if (shares_[a].empty()) note(a, control, to);
        for (std::size_t k = 0; k < shares_[a].size(); ++k) note(a, control - static_cast<int>(k), to);
    };
    for (int i = 0; i < static_cast<int>(g_.items.size()); ++i) {
        const auto& it = g_.items[i];
        for (const auto& p : shares_[i]) {
            for (std::size_t k = 0; k < p.share->inputs.size(); ++k)
                if (!p.share->is_shape[k]) note_value(it.inputs[static_cast<std::size_t>(p.share->inputs[k])], p.part);
            for (const int a : it.after) note_control(a, p.part);
        }
        if (it.part < 0) continue;
        const auto shape_only = it.shape_only_inputs();
        for (std::size_t k = 0; k < it.inputs.size(); ++k)
            if (!contains(shape_only, static_cast<std::int32_t>(k))) note_value(it.inputs[k], it.part);
        for (const int a : it.after) note_control(a, it.part);
    }
    for (std::size_t f = 0; f < fetch_parts.size(); ++f) note_value(g_.fetches[f], fetch_parts[f]);
}

/// Adds control inputs that keep the order of the whole run. They do not determine which value of a variable the item sees.
RILL_COLD void exchange_insertion::order_after(subgraph::item& it, const std::vector<int>& more) {
    if (it.asked < 0 && !more.empty()) it.asked = static_cast<int>(it.after.size());
    for (const int m : more)
        if (!contains(it.after, m)) it.after.push_back(m);
}

/// Returns the new items of a split item.
RILL_COLD std::vector<int> exchange_insertion::shares_of(int item) const {
    std::vector<int> all;
    for (const auto& p : shares_[item]) all.push_back(p.item);
    return all;
}

/// Adds to `after` the items that an item of part `to` waits for in place of old item `a`.
RILL_COLD void exchange_insertion::wait_for(small_vector<int, 4>& after, int a, int to) {
    const auto wait = [&](int port) {
        after.push_back(crosses(a, port, to) ? pair(a, port, to, {}).item : made_at(a, port).item);
    };
    if (shares_[a].empty()) wait(control);
    for (std::size_t k = 0; k < shares_[a].size(); ++k) wait(control - static_cast<int>(k));
}

/// Returns the value for a reader in part `to`. `after` are the new control inputs of the reader.
RILL_COLD subgraph::value exchange_insertion::read(const subgraph::value& v, int to,
                                                   const small_vector<int, 4>& after) {
    if (!crosses(v.item, v.port, to)) return made_at(v.item, v.port);
    if (const auto value = repeated_value(v.item); !value.empty()) return repeated(v, value);
    if (!varies(v.item)) return pair(v.item, v.port, to, {});
    // the Send reads the variable at its reader's turn: it waits for what the reader waits for
    std::vector<int> waits;
    for (const int a : after) waits.push_back(a);
    return pair(v.item, v.port, to, waits);
}

/// Returns the output of a value's Receive in part `to`; makes the Send and Receive on first use.
RILL_COLD subgraph::value exchange_insertion::pair(int from, int port, int to, const std::vector<int>& waits) {
    const auto known = pairs_.find(std::tuple(from, port, to, waits));
    if (known != pairs_.end()) return {known->second, 0};
    subgraph::item send;
    send.part = part_at(from, port);
    if (port < 0)
        send.after.push_back(made_at(from, port).item);
    else
        send.inputs.push_back(made_at(from, port));
    for (const int a : waits) // each is in the reader's part, was received there, or is repeated
        send.after.push_back(items_[a].part == send.part || items_[a].part < 0 ? a : returned(a, send.part));
    order_after(send, shares_of(from));
    const int made = exchange(std::move(send), type_at(from, port), to, wire_of(from, port));
    pairs_.try_emplace(std::tuple(from, port, to, waits), made);
    return {made, 0};
}

/// Returns the wire format of a value: the one that its op requests, or else the session's.
RILL_COLD wire_format exchange_insertion::wire_of(int from, int port) const {
    if (type_at(from, port).type != dtype::float32) return wire_format::as_is;
    const auto& op = g_.items[from].op;
    return (op ? ops_.asked_wire(*op) : std::nullopt).value_or(of_.wire_);
}

/// Adds a Send and its Receive; returns the Receive. Sets the op of the Send.
RILL_COLD int exchange_insertion::exchange(subgraph::item send, const tensor_type& type, int to, wire_format wire) {
    const auto number = static_cast<std::uint32_t>(of_.edges_.size());
    of_.edges_.push_back(
        {.number = number, .from = send.part, .to = to, .type = type, .is_control = send.inputs.empty(), .wire = wire});
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

RILL_COLD int exchange_insertion::add(subgraph::item it) {
    items_.push_back(std::move(it));
    return static_cast<int>(items_.size()) - 1;
}

/// Returns a value of the same type in part `to`, for a reader that needs only the shape. A data-dependent shape is sent instead of the
/// value.
RILL_COLD subgraph::value exchange_insertion::shape_of(const subgraph::value& v, int to) {
    if (!crosses(v.item, v.port, to)) return made_at(v.item, v.port);
    const auto known = shape_sources_.find(std::tuple(v.item, v.port, to));
    if (known != shape_sources_.end()) return {known->second, 0};
    const auto type = type_at(v.item, v.port);
    subgraph::item stand_in;
    stand_in.op = ops_.stand_in(type);
    stand_in.part = to;
    stand_in.device = of_.where_[static_cast<std::size_t>(to)];
    if (!type.shape.complete()) {
        subgraph::item shape, send;
        shape.op = ops_.shape();
        shape.part = send.part = part_at(v.item, v.port);
        shape.device = shares_[v.item].empty() ? g_.items[v.item].device : host_of(send.part);
        shape.inputs.push_back(made_at(v.item, v.port));
        order_after(shape, shares_of(v.item));
        send.inputs.push_back({add(std::move(shape)), 0});
        const tensor_type extents{dtype::int64, dims{type.shape.known_rank() ? type.shape.rank : dyn}};
        stand_in.inputs.push_back({exchange(std::move(send), extents, to, wire_format::as_is), 0});
    }
    const int made = add(std::move(stand_in));
    shape_sources_.try_emplace(std::tuple(v.item, v.port, to), made);
    return {made, 0};
}

/// Returns the item's value if it follows from known types, such as a shape. Each part then has it as a constant.
RILL_COLD any_array exchange_insertion::repeated_value(int item) const {
    const auto& it = g_.items[item];
    if (!it.origin || it.op != it.origin->op || !it.op->follows_from_types()) return {};
    std::vector<tensor_type> types;
    for (const auto& e : it.origin->inputs) types.push_back(type_of(e));
    const auto is_open = [](const tensor_type& t) { return !t.shape.complete(); };
    return any_of(types, is_open) ? any_array() : it.op->known(types);
}

RILL_COLD subgraph::value exchange_insertion::repeated(const subgraph::value& v, const any_array& value) {
    const auto [at, fresh] = repeated_.try_emplace(v.item, -1);
    if (fresh) {
        subgraph::item constant;
        constant.op = ops_.constant(value);
        at->second = add(std::move(constant));
    }
    return {at->second, 0};
}

/// Returns the item that an item of part `to` waits for in place of new item `a` of another part.
RILL_COLD int exchange_insertion::returned(int a, int to) {
    const auto in_place_of = [&](int source, int port) {
        return part_at(source, port) == to ? made_at(source, port).item : pair(source, port, to, {}).item;
    };
    // a Receive represents its source: wait for the source itself if it is in `to`
    const auto at = detail::find_if(pairs_, [&](const auto& p) { return p.second == a; });
    if (at != pairs_.end()) {
        const int source = std::get<0>(at->first);
        return in_place_of(source, control_of(source, std::get<1>(at->first)));
    }
    for (int i = 0; i < static_cast<int>(shares_.size()); ++i)
        for (std::size_t k = 0; k < shares_[i].size(); ++k)
            if (shares_[i][k].item == a) return in_place_of(i, control - static_cast<int>(k));
    return in_place_of(static_cast<int>(detail::find(now_, a) - now_.begin()), control);
}

RILL_COLD const device* exchange_insertion::host_of(int part) const {
    return of_.host_of(*of_.where_[static_cast<std::size_t>(part)]);
}

}}} // namespace rill::RILL_ABI::detail
