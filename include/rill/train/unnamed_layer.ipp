// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/unnamed_layer.hpp>

#include <algorithm>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::string next_layer_name(const char* label) {
    const auto numbered = [&](int n) { return n == 0 ? std::string(label) : label + ("_" + std::to_string(n)); };
    if (const auto& scope = scopes().variables) return numbered((*scope->layers)[label]++);
    const auto all = current_graph().collection(collections::variables);
    const auto is_taken = [&](const std::string& name) {
        return std::any_of(all.begin(), all.end(),
                           [&](const endpoint& e) { return e.from->name.starts_with(name + "/"); });
    };
    int n = 0;
    while (is_taken(numbered(n))) ++n;
    return numbered(n);
}

}}} // namespace rill::RILL_ABI::detail
