// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather.hpp>
#include <rill/ops/math/unsorted_segment_max.hpp>
#include <rill/ops/math/unsorted_segment_mean.hpp>
#include <rill/ops/math/unsorted_segment_min.hpp>
#include <rill/ops/math/unsorted_segment_prod.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>

// Segments by sorted ids, whose last id gives their number: a check of the ids, and the ops over segments of any order.

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Checks that ids are sorted, and returns the number of segments.
template <class Ids> auto sorted_segments(const Ids& ids, const std::source_location& where) {
    if constexpr (typed_operand<Ids>)
        static_assert(extents_of<Ids>::rank == 1, "segment_sum: sorted segment ids are of rank 1");
    return index_count(ids, {.sorted = true}, where);
}

} // namespace detail

/// Returns the sums of slices x[k, ..] of each segment: segment_sum(x, ids), with sorted ids [n] for x [n, ..]. The result has (last id +
/// 1) rows. A segment without slices is 0. Descending or negative ids are invalid_argument. Gradient: g of the slice's segment.
template <graph_operand X, ids_argument Ids = std::vector<int>>
auto segment_sum(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = detail::ids_beside(x, ids, where);
    return detail::add_segments(unsorted_segment_sum_op{}, x, by, detail::sorted_segments(by, where), where);
}
/// Returns the products of the slices of each segment. A segment without slices is 1.
template <graph_operand X, ids_argument Ids = std::vector<int>>
auto segment_prod(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = detail::ids_beside(x, ids, where);
    return detail::add_segment_products(x, by, detail::sorted_segments(by, where), where);
}
/// Returns the largest elements of each segment. A segment without slices is 0. Gradient: g, in equal shares to the largest elements.
template <graph_operand X, ids_argument Ids = std::vector<int>>
auto segment_max(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = detail::ids_beside(x, ids, where);
    return detail::add_segments(unsorted_segment_max_op{{.zero_empty = true}}, x, by,
                                detail::sorted_segments(by, where), where);
}
/// Returns the smallest elements of each segment. A segment without slices is 0.
template <graph_operand X, ids_argument Ids = std::vector<int>>
auto segment_min(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = detail::ids_beside(x, ids, where);
    return detail::add_segments(unsorted_segment_min_op{{.zero_empty = true}}, x, by,
                                detail::sorted_segments(by, where), where);
}
/// Returns the means of each segment as an expression. A segment without slices is 0.
template <graph_operand X, ids_argument Ids = std::vector<int>>
auto segment_mean(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = detail::ids_beside(x, ids, where);
    return detail::mean_of_segments<false>(x, by, detail::sorted_segments(by, where), where);
}
/// Returns the sums of each segment divided by the square root of its number of slices. The result is an expression.
template <graph_operand X, ids_argument Ids = std::vector<int>>
auto segment_sqrt_n(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = detail::ids_beside(x, ids, where);
    return detail::mean_of_segments<true>(x, by, detail::sorted_segments(by, where), where);
}

/// Returns segment_sum of the rows gather(x, places): sparse_segment_sum(x, places, ids). If the number of segments is given, the ids need
/// not be sorted.
template <graph_operand X, ids_argument Places = std::vector<int>, ids_argument Ids = std::vector<int>>
auto sparse_segment_sum(const X& x, const Places& places, const Ids& ids,
                        const std::source_location& where = std::source_location::current()) {
    return segment_sum(gather(x, places, where), ids, where);
}
template <graph_operand X, ids_argument Places = std::vector<int>, ids_argument Ids = std::vector<int>, class N>
    requires(host_integer<N> || graph_operand<N>)
auto sparse_segment_sum(const X& x, const Places& places, const Ids& ids, const N& segments,
                        const std::source_location& where = std::source_location::current()) {
    return unsorted_segment_sum(gather(x, places, where), ids, segments, where);
}
/// Returns segment_mean of the rows gather(x, places), as an expression; sparse_segment_sqrt_n likewise.
template <graph_operand X, ids_argument Places = std::vector<int>, ids_argument Ids = std::vector<int>>
auto sparse_segment_mean(const X& x, const Places& places, const Ids& ids,
                         const std::source_location& where = std::source_location::current()) {
    return segment_mean(gather(x, places, where), ids, where);
}
template <graph_operand X, ids_argument Places = std::vector<int>, ids_argument Ids = std::vector<int>, class N>
    requires(host_integer<N> || graph_operand<N>)
auto sparse_segment_mean(const X& x, const Places& places, const Ids& ids, const N& segments,
                         const std::source_location& where = std::source_location::current()) {
    return unsorted_segment_mean(gather(x, places, where), ids, segments, where);
}

template <graph_operand X, ids_argument Places = std::vector<int>, ids_argument Ids = std::vector<int>>
auto sparse_segment_sqrt_n(const X& x, const Places& places, const Ids& ids,
                           const std::source_location& where = std::source_location::current()) {
    return segment_sqrt_n(gather(x, places, where), ids, where);
}
template <graph_operand X, ids_argument Places = std::vector<int>, ids_argument Ids = std::vector<int>, class N>
    requires(host_integer<N> || graph_operand<N>)
auto sparse_segment_sqrt_n(const X& x, const Places& places, const Ids& ids, const N& segments,
                           const std::source_location& where = std::source_location::current()) {
    return unsorted_segment_sqrt_n(gather(x, places, where), ids, segments, where);
}

}} // namespace rill::RILL_ABI
