// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The key of a plan: fetches, targets and feeds of a run, and the body that it runs.
struct plan_key {
    std::vector<endpoint> fetches;
    std::vector<const node*> targets;
    std::vector<endpoint> feeds;
    const region* within = nullptr;                      // the region of a body; null: the graph itself
    const functionalized_part* functionalized = nullptr; // set if the body was built from control-flow primitives

    friend bool operator==(const plan_key&, const plan_key&) = default;

    struct hash {
        std::size_t operator()(const plan_key& k) const noexcept;
    };
};

/// Returns the plan key of a run of the body.
plan_key plan_key_of(const body& b);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/plan_key.ipp>
#endif
