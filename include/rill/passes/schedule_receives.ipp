// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/schedule_receives.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>
#include <rill/passes/order.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns true if a node may wait for an event that no edge shows: it is async, or a node in its bodies is.
inline bool may_wait(const node& n) {
    if (n.op->is_async()) return true;
    return n.bodies && any_of(*n.bodies, [&](const body& b) {
        return any_of(nodes_in(b, *n.owner), [](const node* inner) { return may_wait(*inner); });
    });
}

class receive_scheduler {
public:
    receive_scheduler(const subgraph& g, const std::vector<cross_edge>& edges, const cost_model& costs)
        : g_(g), edges_(edges), costs_(costs), bytes_(g.items.size()), owner_(g.items.size()) {
        for (int i = 0; i < count(); ++i) {
            owner_[i] = i;
            const auto& it = g.items[i];
            if (it.part < 0) continue;
            parts_ = std::max(parts_, it.part + 1);
            if (const auto source = alias_of(it); source >= 0)
                owner_[i] = owner_[source];
            else
                bytes_[i] = bytes_of(i);
        }
    }

    /// Returns the control inputs to add to Receives, as (Receive, item).
    std::vector<std::pair<int, int>> run() {
        std::vector<int> worth; // parts that receive a large value
        for (int i = 0; i < count(); ++i)
            if (is_receive(i) && bytes_[i] >= least && !contains(worth, g_.items[i].part))
                worth.push_back(g_.items[i].part);
        if (worth.empty()) return {};
        for (int i = 0; i < count(); ++i) {
            const auto* d = g_.items[i].device;
            takes_.push_back(d && g_.items[i].origin ? costs_.microseconds(g_, i, *d) : 0);
        }
        find_waits();
        simulate();
        for (const int p : worth)
            while (delay_one(p)) {}
        return anchors_;
    }

private:
    static constexpr double least = 64 * 1024; // minimum bytes of a value that justifies a stage
    static constexpr double gain = 0.1;        // minimum reduction, as a fraction of the peak
    static constexpr std::size_t tried = 4;    // maximum Receives tried at one peak

    struct peak {
        double bytes = 0, at = 0;
    };

    int count() const { return static_cast<int>(g_.items.size()); }
    /// Finds the items that may wait for an event that no edge shows, and the items that depend on one. A part's share of a partitioned
    /// node waits for the shares of other parts.
    void find_waits() {
        waits_.assign(g_.items.size(), 0);
        for (int i = 0; i < count(); ++i) { // the subgraph is sorted
            const auto& it = g_.items[i];
            const bool waits = (it.origin && (it.share || may_wait(*it.origin))) ||
                               any_of(it.inputs, [&](const auto& v) { return waits_[v.item] != 0; }) ||
                               any_of(it.after, [&](int a) { return waits_[a] != 0; });
            waits_[i] = waits ? 1 : 0;
        }
    }
    bool is_receive(int i) const { return g_.items[i].edge >= 0 && g_.items[i].op->is_async(); }
    /// Returns the item of the same part whose memory holds the item's result; -1 if the result has its own memory.
    int alias_of(const subgraph::item& it) const {
        const int input = it.op && it.origin ? it.op->alias() : -1;
        if (input < 0 || input >= static_cast<int>(it.inputs.size())) return -1;
        const int source = it.inputs[static_cast<std::size_t>(input)].item;
        return g_.items[source].part == it.part ? source : -1;
    }
    /// Returns the bytes that an item allocates in a step, as far as statically known.
    double bytes_of(int i) const {
        const auto known = [](const tensor_type& t) {
            return t.shape.complete() && t.countable() && t.type != dtype::string ? static_cast<double>(t.bytes()) : 0.;
        };
        const auto& it = g_.items[i];
        if (it.edge >= 0) return is_receive(i) ? known(edges_[static_cast<std::size_t>(it.edge)].type) : 0;
        if (!it.origin || it.share || it.op->role() != op_role::ordinary) return 0;
        double all = 0;
        for (const auto& t : it.origin->outputs) all += known(t);
        return all;
    }

    /// Simulates the run. A part runs one item at a time: the first ready item in the order of the subgraph.
    void simulate() {
        item_edges edges(g_);
        std::vector<int> missing(g_.items.size());
        for (int i = 0; i < count(); ++i)
            missing[i] = static_cast<int>(g_.items[i].inputs.size() + g_.items[i].after.size());
        std::vector<std::vector<int>> waits(g_.items.size()); // for anchors
        for (const auto& [receive, anchor] : anchors_) {
            edges.add(anchor, receive);
            waits[receive].push_back(anchor);
            ++missing[receive];
        }
        std::priority_queue<int, std::vector<int>, std::greater<>> ready;
        for (int i = 0; i < count(); ++i)
            if (missing[i] == 0) ready.push(i);
        begin_.assign(g_.items.size(), 0);
        end_.assign(g_.items.size(), 0);
        std::vector<double> free(static_cast<std::size_t>(parts_));
        all_ = 0;
        while (!ready.empty()) {
            const int i = ready.top();
            ready.pop();
            const auto& it = g_.items[i];
            double start = 0;
            for (const auto& v : it.inputs) start = std::max(start, end_[v.item]);
            for (const int a : it.after) start = std::max(start, end_[a] + travel(a, i));
            for (const int a : waits[i]) start = std::max(start, end_[a]);
            const bool works = it.part >= 0 && takes_[i] > 0;
            if (works) start = std::max(start, free[it.part]);
            begin_[i] = start;
            end_[i] = start + takes_[i];
            if (works) free[it.part] = end_[i];
            all_ = std::max(all_, end_[i]);
            for (const int next : edges.next(i))
                if (--missing[next] == 0) ready.push(next);
        }
        first_read_.assign(g_.items.size(), std::numeric_limits<double>::infinity());
        last_read_.assign(g_.items.size(), 0);
        for (int i = 0; i < count(); ++i)
            for (const auto& v : g_.items[i].inputs) {
                const int of = owner_[v.item];
                first_read_[of] = std::min(first_read_[of], begin_[i]);
                last_read_[of] = std::max(last_read_[of], end_[i]);
            }
        for (const auto& f : g_.fetches) last_read_[owner_[f.item]] = all_;
    }

    /// Returns the transfer time of a value from its Send to its Receive; 0 for other items.
    double travel(int from, int to) const {
        const auto &send = g_.items[from], &receive = g_.items[to];
        if (!is_receive(to) || send.edge != receive.edge) return 0;
        return costs_.transfer_microseconds(bytes_[to], send.device, receive.device);
    }

    /// Returns the maximum memory of a part's values, and the first time at which it is reached.
    peak peak_of(int part) const {
        std::vector<std::tuple<double, int, double>> changes; // time, 0 for more, bytes
        for (int i = 0; i < count(); ++i)
            if (g_.items[i].part == part && bytes_[i] > 0) {
                changes.emplace_back(begin_[i], 0, bytes_[i]);
                changes.emplace_back(std::max(end_[i], last_read_[i]), 1, -bytes_[i]);
            }
        std::sort(changes.begin(), changes.end());
        peak most;
        double now = 0;
        for (const auto& [time, kind, change] : changes) {
            now += change;
            if (now > most.bytes) most = {now, time};
        }
        return most;
    }

    /// Delays one Receive of a part whose value is unread at the peak. Returns false if no delay pays.
    bool delay_one(int part) {
        const auto before = peak_of(part);
        const double length = all_;
        std::vector<int> unread;
        for (int i = 0; i < count(); ++i)
            if (g_.items[i].part == part && is_receive(i) && bytes_[i] >= std::max(least, gain * before.bytes) &&
                begin_[i] <= before.at && first_read_[i] > before.at && !is_delayed(i))
                unread.push_back(i);
        detail::sort(unread, [&](int a, int b) { return bytes_[a] > bytes_[b]; });
        if (unread.size() > tried) unread.resize(tried);
        for (const int i : unread) {
            const int anchor = last_before(i, part);
            if (anchor < 0 || end_[anchor] <= before.at) continue;
            anchors_.emplace_back(i, anchor);
            simulate();
            if (peak_of(part).bytes < (1 - gain) * before.bytes && all_ <= length * (1 + 1e-9)) return true;
            anchors_.pop_back();
            simulate();
        }
        return false;
    }
    bool is_delayed(int receive) const {
        return any_of(anchors_, [&](const auto& a) { return a.first == receive; });
    }

    /// Returns the last item of a part that ends before a received value is first read; -1 if there is none. The item must not depend on
    /// the value, even through other parts. It must not depend on items that may wait for an event that no edge shows.
    int last_before(int receive, int part) const {
        item_edges edges(g_);
        for (const auto& [r, anchor] : anchors_) edges.add(anchor, r);
        std::vector<char> follows(g_.items.size());
        std::vector<int> open{receive};
        while (!open.empty()) {
            const int i = open.back();
            open.pop_back();
            if (std::exchange(follows[static_cast<std::size_t>(i)], char(1))) continue;
            for (const int next : edges.next(i)) open.push_back(next);
        }
        int last = -1;
        for (int i = 0; i < count(); ++i) {
            const auto& it = g_.items[i];
            if (it.part != part || it.edge >= 0 || takes_[i] <= 0 || waits_[i] || follows[static_cast<std::size_t>(i)])
                continue;
            if (end_[i] <= first_read_[receive] && (last < 0 || end_[i] >= end_[last])) last = i;
        }
        return last;
    }

    const subgraph& g_;
    const std::vector<cross_edge>& edges_;
    const cost_model& costs_;
    int parts_ = 0;
    std::vector<double> bytes_; // per item: allocated bytes
    std::vector<int> owner_;    // per item: the item whose memory holds its result
    std::vector<char> waits_;   // per item: 1 if it may wait for an event that no edge shows
    std::vector<double> takes_, begin_, end_, first_read_, last_read_;
    double all_ = 0; // the time of the whole run
    std::vector<std::pair<int, int>> anchors_;
};

} // namespace detail

RILL_COLD subgraph schedule_receives(subgraph g, const std::vector<cross_edge>& edges, const cost_model& costs) {
    const auto anchors = detail::receive_scheduler(g, edges, costs).run();
    if (anchors.empty()) return g;
    for (const auto& [receive, anchor] : anchors) {
        auto& it = g.items[receive];
        if (it.asked < 0) it.asked = static_cast<int>(it.after.size());
        if (!detail::contains(it.after, anchor)) it.after.push_back(anchor);
    }
    return sort_items(std::move(g));
}

}} // namespace rill::RILL_ABI
