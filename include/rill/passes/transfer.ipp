// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

class value_mover {
public:
    explicit value_mover(subgraph g) : g_(std::move(g)), now_(g_.items.size(), -1), varies_(g_.items.size()) {}

    subgraph run() && {
        note_variables();
        for (std::size_t i = 0; i < g_.items.size(); ++i) {
            auto it = std::move(g_.items[i]);
            for (auto& a : it.after) a = now_[static_cast<std::size_t>(a)];
            input_list on_host;
            if (it.op) on_host = it.op->host_inputs();
            for (std::size_t k = 0; k < it.inputs.size(); ++k) {
                const bool host = std::find(on_host.begin(), on_host.end(), static_cast<std::int8_t>(k)) != on_host.end();
                it.inputs[k] = moved(it.inputs[k], host ? nullptr : it.device, it.after);
            }
            now_[i] = static_cast<int>(items_.size());
            items_.push_back(std::move(it));
        }
        for (auto& f : g_.fetches) f = moved(f, nullptr, {});
        for (auto& t : g_.targets) t = now_[static_cast<std::size_t>(t)];
        g_.items = std::move(items_);
        return std::move(g_);
    }

private:
    /// Values that a write may change: each reader needs a copy of its own, made when it is its turn.
    void note_variables() {
        for (std::size_t i = 0; i < g_.items.size(); ++i) {
            const auto& it = g_.items[i];
            varies_[i] = g_.role(static_cast<int>(i)) == op_role::variable || (it.op && !it.op->writes().empty());
        }
    }

    /// The value, in the memory of a device (null: the host's).
    subgraph::value moved(const subgraph::value& v, const device_type* to, const small_vector<int, 4>& after) {
        const auto old = static_cast<std::size_t>(v.item);
        const subgraph::value here{now_[old], v.port};
        const device_type* from = items_[static_cast<std::size_t>(here.item)].memory();
        if (from == to || (is_host(from) && is_host(to))) return here;
        const auto key = std::tuple(here.item, here.port, to);
        if (!varies_[old])
            if (const auto known = copies_.find(key); known != copies_.end()) return known->second;
        subgraph::item copy;
        copy.device = to;
        copy.inputs = {here};
        if (varies_[old]) copy.after = after;
        const subgraph::value made{static_cast<int>(items_.size()), 0};
        items_.push_back(std::move(copy));
        if (!varies_[old]) copies_.emplace(key, made);
        return made;
    }
    static bool is_host(const device_type* d) { return !d || d->host_memory; }

    subgraph g_;
    std::vector<subgraph::item> items_;
    std::vector<int> now_;
    std::vector<char> varies_; // per old item
    std::map<std::tuple<int, int, const device_type*>, subgraph::value> copies_;
};

} // namespace detail

RILL_INLINE subgraph transfer_values(subgraph g) {
    const bool one_memory = std::all_of(g.items.begin(), g.items.end(), [](const subgraph::item& it) {
        return !it.device || it.device->host_memory;
    });
    return one_memory ? g : detail::value_mover(std::move(g)).run();
}

} // namespace rill::inline RILL_ABI
