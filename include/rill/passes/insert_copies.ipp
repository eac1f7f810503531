// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/insert_copies.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

class copy_inserter {
public:
    copy_inserter(subgraph g, const device* fetches)
        : g_(std::move(g)), fetches_(fetches), now_(g_.items.size(), -1), variable_(g_.items.size(), -1),
          wanted_(g_.items.size()) {
        for (std::size_t i = 0; i < g_.items.size(); ++i) {
            note_variable(i);
            each_input(g_.items[i], [&](subgraph::value& v, const device* to) {
                if (g_.items[v.item].feed >= 0) wanted_[v.item].push_back(to);
            });
        }
    }

    subgraph run() && {
        for (std::size_t i = 0; i < g_.items.size(); ++i) {
            auto it = std::move(g_.items[i]);
            for (auto& a : it.after) a = now_[a];
            each_input(it, [&](subgraph::value& v, const device* to) { v = moved(v, to, it.after); });
            for (const int k : it.shape_only_inputs()) it.inputs[k].item = now_[it.inputs[k].item];
            if (it.op)
                for (const int k : it.op->writes()) write(it.inputs[k]);
            now_[i] = static_cast<int>(items_.size());
            items_.push_back(std::move(it));
            // copy a feed at once: a fusion group may begin with any of its readers
            for (const auto* to : wanted_[i]) moved({static_cast<int>(i), 0}, to, {});
        }
        for (auto& f : g_.fetches) f = moved(f, fetches_, {});
        for (auto& t : g_.targets) t = now_[t];
        g_.items = std::move(items_);
        return std::move(g_);
    }

private:
    /// Calls f(value, device in whose memory it is needed) for each input that is read and not written.
    template <class F> static void each_input(subgraph::item& it, const F& f) {
        const auto unread = it.shape_only_inputs();
        for (std::size_t k = 0; k < it.inputs.size(); ++k)
            if (!it.writes(k) && !detail::contains(unread, static_cast<std::int32_t>(k)))
                f(it.inputs[k], it.input_device(k));
    }
    static const memory_space* space_of(const device* d) { return d ? d->space : nullptr; }

    void note_variable(std::size_t i) {
        const auto& it = g_.items[i];
        if (g_.role(static_cast<int>(i)) == op_role::variable)
            variable_[i] = static_cast<int>(i);
        else if (it.gives_written(0))
            variable_[i] = variable_[it.inputs[it.op->alias()].item];
    }

    /// Updates an input that is written, and drops the copies of its variable: later readers need the new value.
    void write(subgraph::value& v) {
        if (const int variable = variable_[v.item]; variable >= 0) {
            const auto first = [&](int item) {
                return copies_.lower_bound(std::tuple(item, -1, static_cast<const memory_space*>(nullptr)));
            };
            const int now = now_[variable];
            copies_.erase(first(now), first(now + 1));
        }
        v.item = now_[v.item];
    }

    /// Returns the value in the memory of a device (null: the host's), copied if necessary. One copy serves all readers there. The
    /// copy of a variable serves until the next write: that write waits for each of its readers.
    subgraph::value moved(const subgraph::value& v, const device* to, const small_vector<int, 4>& after) {
        const auto old = static_cast<std::size_t>(v.item);
        const subgraph::value here{now_[old], v.port};
        const auto* space = space_of(to);
        if (items_[here.item].memory() == space) return here;
        const bool varies = v.port == 0 && variable_[old] >= 0;
        const subgraph::value source = varies ? subgraph::value{now_[variable_[old]], 0} : here;
        const auto [known, fresh] = copies_.try_emplace(std::tuple(source.item, source.port, space));
        if (fresh) {
            subgraph::item copy;
            copy.device = space ? to : nullptr;
            copy.inputs = {here};
            if (varies) copy.after = after;
            known->second = {static_cast<int>(items_.size()), 0};
            items_.push_back(std::move(copy));
        }
        return known->second;
    }

    subgraph g_;
    const device* fetches_;
    vector<subgraph::item> items_;
    std::vector<int> now_;
    std::vector<int> variable_;            // per old item: the variable that it is, or returns after a write
    vector<vector<const device*>> wanted_; // per old item, a feed: the devices that need it
    std::map<std::tuple<int, int, const memory_space*>, subgraph::value> copies_;
};

} // namespace detail

RILL_COLD subgraph insert_copies(subgraph g, const device* fetches) {
    const bool one_memory =
        detail::none_of(g.items, [](const subgraph::item& it) { return it.device && it.device->space; });
    if (one_memory && !(fetches && fetches->space)) return g;
    return detail::copy_inserter(std::move(g), fetches).run();
}

}} // namespace rill::RILL_ABI
