// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI {

/// A difference between the values of an edge in two sessions.
struct value_difference {
    std::string edge;         // "layer/add:0"
    std::string problem = {}; // why the values can't be compared: another type or shape
    double absolute = 0;      // the largest difference of two elements
    double relative = 0;      // the largest difference, relative to the larger element
    std::int64_t ulps = 0;    // the largest number of floating numbers between two elements
    index_t at = -1;          // the element with the largest relative difference
};

namespace detail {

/// Returns the edges outside loops and branches that depend on variables, constants and feeds and change no state.
std::vector<any_tensor> fetchable_edges(const graph& g, const std::vector<feed_value>& feeds);

} // namespace detail

/// Runs one step in each of two sessions, and compares all edges that the tensors `of` depend on. Edges are matched by name. Returns the
/// edges that differ, in order of the nodes: the first one is where the values begin to diverge. Returns none if all are equal, NaNs
/// included. Both sessions must have the names of `of`: they run one graph, or a graph and its copy. Edges within loops and branches are
/// not compared.
std::vector<value_difference> compare_values(const session& a, const session& b, const std::vector<any_tensor>& of,
                                             const std::vector<feed_value>& feeds = {});

/// Compares all edges of the graph of `a` that a step can fetch: compare_values(a, b, feed(x, xs)). Leaves out nodes that change state,
/// draw random numbers or need a placeholder without a feed. Leaves out all nodes that depend on these.
template <any_feed... F>
    requires(may_be_fed<F> && ...)
std::vector<value_difference> compare_values(const session& a, const session& b, F&&... feeds) {
    const std::vector<feed_value> given{feed_value(std::forward<F>(feeds))...};
    return compare_values(a, b, detail::fetchable_edges(a.graph(), given), given);
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/compare_values.ipp>
#endif
