// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/needed_items.hpp>

#include <cstddef>
#include <cstdint>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD bool is_pure(const subgraph& g, int i) {
    const auto& it = g.items[i];
    return it.is_copy() ||
           (it.origin && !it.origin->bodies && g.role(i) == op_role::ordinary && !it.op->stateful() && !it.is_write());
}

RILL_COLD std::vector<char> needed_items(const subgraph& g, std::span<const input_list> shape_only) {
    std::vector<char> needed(g.items.size());
    for (const auto& f : g.fetches) needed[f.item] = 1;
    for (const int t : g.targets) needed[t] = 1;
    for (int i = static_cast<int>(g.items.size()); i-- > 0;) {
        const auto& it = g.items[i];
        const bool gives_nothing = it.origin && it.origin->outputs.empty(); // the item runs for its effect
        if (gives_nothing || !is_pure(g, i)) needed[i] = 1;
        if (!needed[i]) continue;
        for (std::size_t k = 0; k < it.inputs.size(); ++k)
            if (!detail::contains(shape_only[i], static_cast<std::int32_t>(k))) needed[it.inputs[k].item] = 1;
        for (const int a : it.after) needed[a] = 1;
    }
    return needed;
}

}}} // namespace rill::RILL_ABI::detail
