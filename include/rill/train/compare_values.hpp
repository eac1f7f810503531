// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rill/session/session.hpp>

namespace rill { inline namespace RILL_ABI {

/// How the values of an edge differ between two sessions.
struct value_difference {
    std::string edge;         // "layer/add:0"
    std::string problem = {}; // why they can't be compared: another type or shape
    double absolute = 0;      // the largest difference of two elements
    double relative = 0;      // the largest difference, as a part of the larger element
    std::int64_t ulps = 0;    // the largest number of floating numbers between two elements
    index_t at = -1;          // the element with the largest relative difference
};

namespace detail {

/// Returns the edges outside loops and branches that follow from variables, constants and feeds without a change of state.
std::vector<any_tensor> fetchable_edges(const graph& g, const std::vector<feed_value>& feeds);

} // namespace detail

/// Runs one step in each of two sessions, and compares all edges that the tensors `of` depend on, by name and in order of the nodes. The first
/// entry is where they begin to diverge. Returns the edges that differ: none if all are equal, NaNs included. Both sessions have these names: of
/// one graph, or of a graph and its copy. Edges within loops and branches are not compared.
std::vector<value_difference> compare_values(const session& a, const session& b, const std::vector<any_tensor>& of,
                                             const std::vector<feed_value>& feeds = {});

/// Compares all edges of the graph of `a` that a step can fetch: compare_values(a, b, feed(x, xs)). Those are left out that change state, draw
/// random numbers or need a placeholder without a feed, and those that depend on them.
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
