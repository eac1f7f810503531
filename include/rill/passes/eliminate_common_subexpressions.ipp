// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/eliminate_common_subexpressions.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <rill/core/hash.hpp>
#include <rill/core/hash_index.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD subgraph eliminate_common_subexpressions(subgraph g) {
    std::vector<int> now(g.items.size());
    std::size_t kept = 0; // items that are kept, moved to the front
    detail::hash_index seen;
    seen.reserve(g.items.size());
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        auto& it = g.items[i];
        for (auto& v : it.inputs) v.item = now[v.item];
        for (auto& a : it.after) a = now[a];
        now[i] = static_cast<int>(kept);
        const bool pure = it.origin && !it.op->stateful() && !it.is_write() && !it.origin->bodies;
        if (pure) {
            std::uint64_t key = it.op->hash();
            for (const auto& v : it.inputs)
                key = detail::hash_combine(key, static_cast<std::uint64_t>(v.item) * 64 +
                                                    static_cast<std::uint64_t>(v.port));
            for (const int a : it.after) key = detail::hash_combine(key, ~static_cast<std::uint64_t>(a));
            const auto same = seen.find(key, [&](std::uint32_t n) {
                const auto& other = g.items[n];
                return other.inputs == it.inputs && other.after == it.after && other.device == it.device &&
                       other.op->equals(*it.op);
            });
            if (same != detail::hash_index::none) {
                now[i] = static_cast<int>(same);
                continue;
            }
            seen.add(key, static_cast<std::uint32_t>(kept));
        }
        if (kept < i) g.items[kept] = std::move(it);
        ++kept;
    }
    g.items.resize(kept);
    for (auto& f : g.fetches) f.item = now[f.item];
    for (auto& t : g.targets) t = now[t];
    return g;
}

}} // namespace rill::RILL_ABI
