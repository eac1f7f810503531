// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan_key.hpp>

#include <cstdint>

#include <rill/core/hash.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::size_t plan_key::hash::operator()(const plan_key& k) const noexcept {
    std::uint64_t h = k.fetches.size() * 31 + k.feeds.size();
    const auto add = [&](const node* n, int port) {
        h = hash_combine(h, reinterpret_cast<std::uintptr_t>(n) + static_cast<unsigned>(port));
    };
    for (const auto& e : k.fetches) add(e.from, e.port);
    for (const auto* n : k.targets) add(n, 1 << 20);
    for (const auto& e : k.feeds) add(e.from, e.port);
    return static_cast<std::size_t>(h);
}

RILL_COLD plan_key plan_key_of(const body& b) {
    plan_key key;
    for (const auto& r : b.results)
        if (r) key.fetches.push_back(r);
    key.targets = b.effects;
    key.feeds = b.arguments;
    key.feeds.insert(key.feeds.end(), b.captures.begin(), b.captures.end());
    key.within = b.of;
    key.functionalized = b.functionalized.get();
    return key;
}

}}} // namespace rill::RILL_ABI::detail
