// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/config.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The cost of starting lanes and waiting for them, in microseconds.
inline constexpr double fork_cost = 10;

/// The maximum number of steps of a window. It keeps the search linear.
inline constexpr int longest_window = 64;

/// A window of steps, first … last - 1, that run in parallel lanes. The steps of one lane run in order.
struct parallel_regions {
    int first = 0, last = 0;
    std::vector<std::vector<int>> lanes;
};

/// The dependencies of a step.
struct step_order {
    std::vector<int> after; // earlier steps that it depends on
    int fence = -1;         // the step also depends on all steps up to this one, which replaces a long list
};

/// The estimated cost of a step.
struct step_cost {
    double microseconds = 0; // estimated time on one thread
    bool shared = false;     // its kernel shares work with other threads
};

/// Returns true if some window may be worth parallel lanes. It is a cheap test, before the dependencies are computed.
bool worth_branching(std::span<const step_cost> costs, int threads);

/// Returns windows of a list of steps where parallel lanes save time, for at most `threads` lanes. Lanes of a window do not depend on one
/// another. Windows do not overlap.
vector<parallel_regions> find_parallel_regions(std::span<const step_order> order, std::span<const step_cost> costs,
                                               int threads);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/parallel_regions.ipp>
#endif
