// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What one kind of run asks for.
struct plan_key {
    std::vector<endpoint> fetches;
    std::vector<const node*> targets;
    std::vector<endpoint> feeds;
    const region* within = nullptr;                      // of a body; null: of the graph itself
    const functionalized_part* functionalized = nullptr; // of a body made of primitives of control flow

    friend bool operator==(const plan_key&, const plan_key&) = default;

    struct hash {
        std::size_t operator()(const plan_key& k) const noexcept;
    };
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/plan_key.ipp>
#endif
