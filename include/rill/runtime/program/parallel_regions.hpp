// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/config.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Microseconds: what handing out strands and waiting for them may cost.
inline constexpr double fork_cost = 10;

/// Steps of a stretch at most, which keeps the search linear.
inline constexpr int longest_stretch = 64;

/// Steps first … last - 1, of which those of one strand run in order and the strands beside one another.
struct parallel_regions {
    int first = 0, last = 0;
    std::vector<std::vector<int>> lanes;
};

/// What a step comes after.
struct step_order {
    std::vector<int> after; // earlier steps
    int fence = -1;         // and all steps up to this one: instead of a long list
};

/// What a plan knows of a step before it runs.
struct step_cost {
    double microseconds = 0; // on one thread, roughly
    bool shared = false;     // its kernel lets other threads help
};

/// Whether there may be such stretches at all: cheap to ask before the order is worked out.
bool worth_branching(std::span<const step_cost> costs, int threads);

/// Where it pays to run parts of a list of steps at once, on so many threads: in stretches that fall into parts which need
/// nothing of one another. Stretches don't overlap.
vector<parallel_regions> find_parallel_regions(std::span<const step_order> order, std::span<const step_cost> costs,
                                               int threads);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/program/parallel_regions.ipp>
#endif
