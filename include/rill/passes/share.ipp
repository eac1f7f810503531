// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/share.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include <rill/core/hash.hpp>

namespace rill::inline RILL_ABI {

RILL_INLINE subgraph share_common(subgraph g) {
    std::vector<int> now(g.items.size());
    std::vector<subgraph::item> kept;
    kept.reserve(g.items.size());
    std::unordered_multimap<std::uint64_t, int> seen;
    seen.reserve(g.items.size());
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        auto& it = g.items[i];
        for (auto& v : it.inputs) v.item = now[static_cast<std::size_t>(v.item)];
        for (auto& a : it.after) a = now[static_cast<std::size_t>(a)];
        now[i] = static_cast<int>(kept.size());
        const bool pure = it.origin && !it.op->stateful() && it.op->writes() == 0;
        if (pure) {
            std::uint64_t key = it.op->hash();
            for (const auto& v : it.inputs)
                key = detail::hash_combine(key, static_cast<std::uint64_t>(v.item) * 64 + static_cast<std::uint64_t>(v.port));
            for (const int a : it.after) key = detail::hash_combine(key, ~static_cast<std::uint64_t>(a));
            const auto [first, last] = seen.equal_range(key);
            for (auto at = first; at != last; ++at) {
                const auto& other = kept[static_cast<std::size_t>(at->second)];
                if (other.inputs == it.inputs && other.after == it.after && other.origin->device == it.origin->device &&
                    other.origin->colocated == it.origin->colocated && other.op->equals(*it.op)) {
                    now[i] = at->second;
                    break;
                }
            }
            if (now[i] != static_cast<int>(kept.size())) continue;
            seen.emplace(key, now[i]);
        }
        kept.push_back(std::move(it));
    }
    for (auto& f : g.fetches) f.item = now[static_cast<std::size_t>(f.item)];
    for (auto& t : g.targets) t = now[static_cast<std::size_t>(t)];
    g.items = std::move(kept);
    return g;
}

} // namespace rill::inline RILL_ABI
