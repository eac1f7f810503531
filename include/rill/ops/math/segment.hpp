// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather.hpp>
#include <rill/ops/math/unsorted_segment_max.hpp>
#include <rill/ops/math/unsorted_segment_mean.hpp>
#include <rill/ops/math/unsorted_segment_min.hpp>
#include <rill/ops/math/unsorted_segment_prod.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>

// Segments by sorted ids, which say how many there are: a check of the ids, and the ops over segments of any order.

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The number of segments of sorted ids, once they are checked.
template <class Ids> auto sorted_segments(const Ids& ids, const std::source_location& where) {
    if constexpr (typed_operand<Ids>)
        static_assert(extents_of<Ids>::rank == 1, "segment_sum: sorted segment ids are of rank 1");
    return index_count(ids, {.sorted = true}, where);
}

} // namespace detail

/// segment_sum(x, ids): the sums of slices x[k, ..] by segments, of sorted ids [n] for x [n, ..]. The result has a row more than the last id says;
/// a segment without a slice is 0. Ids that fall, or are negative, are invalid_argument. Gradient: g of the slice's segment.
template <graph_operand X, graph_operand Ids>
auto segment_sum(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = sealed(ids);
    return detail::add_segments(unsorted_segment_sum_op{}, x, by, detail::sorted_segments(by, where), where);
}
/// The products; 1 where a segment has no slice.
template <graph_operand X, graph_operand Ids>
auto segment_prod(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = sealed(ids);
    return detail::add_segment_products(x, by, detail::sorted_segments(by, where), where);
}
/// The largest elements; 0 where a segment has no slice. Gradient: g, in equal shares to the largest.
template <graph_operand X, graph_operand Ids>
auto segment_max(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = sealed(ids);
    return detail::add_segments(unsorted_segment_max_op{{.zero_empty = true}}, x, by,
                                detail::sorted_segments(by, where), where);
}
/// The smallest elements; 0 where a segment has no slice.
template <graph_operand X, graph_operand Ids>
auto segment_min(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = sealed(ids);
    return detail::add_segments(unsorted_segment_min_op{{.zero_empty = true}}, x, by,
                                detail::sorted_segments(by, where), where);
}
/// The means; 0 where a segment has no slice. An expression.
template <graph_operand X, graph_operand Ids>
auto segment_mean(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = sealed(ids);
    return detail::mean_of_segments<false>(x, by, detail::sorted_segments(by, where), where);
}
/// The sums over the square roots of the numbers of slices. An expression.
template <graph_operand X, graph_operand Ids>
auto segment_sqrt_n(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    const auto by = sealed(ids);
    return detail::mean_of_segments<true>(x, by, detail::sorted_segments(by, where), where);
}

/// sparse_segment_sum(x, places, ids): segment_sum of the rows of x that places choose: gather(x, places). With a number of segments the ids
/// need not be sorted.
template <graph_operand X, graph_operand Places, graph_operand Ids>
auto sparse_segment_sum(const X& x, const Places& places, const Ids& ids,
                        const std::source_location& where = std::source_location::current()) {
    return segment_sum(gather(x, places, where), ids, where);
}
template <graph_operand X, graph_operand Places, graph_operand Ids, class N>
    requires(host_integer<N> || graph_operand<N>)
auto sparse_segment_sum(const X& x, const Places& places, const Ids& ids, const N& segments,
                        const std::source_location& where = std::source_location::current()) {
    return unsorted_segment_sum(gather(x, places, where), ids, segments, where);
}
/// Means and sums over square roots, likewise. Expressions.
template <graph_operand X, graph_operand Places, graph_operand Ids>
auto sparse_segment_mean(const X& x, const Places& places, const Ids& ids,
                         const std::source_location& where = std::source_location::current()) {
    return segment_mean(gather(x, places, where), ids, where);
}
template <graph_operand X, graph_operand Places, graph_operand Ids, class N>
    requires(host_integer<N> || graph_operand<N>)
auto sparse_segment_mean(const X& x, const Places& places, const Ids& ids, const N& segments,
                         const std::source_location& where = std::source_location::current()) {
    return unsorted_segment_mean(gather(x, places, where), ids, segments, where);
}

template <graph_operand X, graph_operand Places, graph_operand Ids>
auto sparse_segment_sqrt_n(const X& x, const Places& places, const Ids& ids,
                           const std::source_location& where = std::source_location::current()) {
    return segment_sqrt_n(gather(x, places, where), ids, where);
}
template <graph_operand X, graph_operand Places, graph_operand Ids, class N>
    requires(host_integer<N> || graph_operand<N>)
auto sparse_segment_sqrt_n(const X& x, const Places& places, const Ids& ids, const N& segments,
                           const std::source_location& where = std::source_location::current()) {
    return unsorted_segment_sqrt_n(gather(x, places, where), ids, segments, where);
}

}} // namespace rill::RILL_ABI
