// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/all_reduce_gradients.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::vector<std::vector<std::size_t>> gradient_bundles(const std::vector<gradient_and_variable>& pairs) {
    struct open_bundle {
        std::size_t number = 0;
        index_t bytes = most_bundled; // a full bundle: the first gradient begins a new one
    };
    open_bundle singles, doubles;
    std::vector<std::vector<std::size_t>> all;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto& g = pairs[i].gradient;
        if (!g) continue;
        const auto& type = type_of(g.end());
        const bool is_float = type.type == dtype::float32, joins = is_float || type.type == dtype::float64;
        if (!joins || !type.shape.complete() || is_rows(g.end())) {
            all.push_back({i});
            continue;
        }
        auto& to = is_float ? singles : doubles;
        const auto bytes = type.shape.size() * static_cast<index_t>(size_of(type.type));
        if (to.bytes + bytes > most_bundled) {
            to = {all.size(), 0};
            all.emplace_back();
        }
        all[to.number].push_back(i);
        to.bytes += bytes;
    }
    return all;
}

RILL_COLD std::string name_of_bundle(const std::vector<gradient_and_variable>& pairs,
                                     const std::vector<std::size_t>& bundle) {
    const auto first = "'" + pairs[bundle[0]].variable.node()->name + "'";
    if (bundle.size() == 1) return "gradient of " + first;
    return "gradients of " + first + " and " + std::to_string(bundle.size() - 1) + " more";
}

}}} // namespace rill::RILL_ABI::detail
