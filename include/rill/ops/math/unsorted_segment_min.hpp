// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/unsorted_segment_max.hpp>

namespace rill { inline namespace RILL_ABI {

/// The smallest elements of a tensor's slices by segments; without slices, the largest finite number. Gradient: g, in equal shares to the
/// smallest elements of each segment.
struct unsorted_segment_min_op : detail::unsorted_segment<combine::min> {
    static constexpr auto name = "UnsortedSegmentMin";
    using domain_type = domains::real;
    using brings = op_list<segment_gather_op, unsorted_segment_sum_op, equal_op, select_op, div_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

/// Returns the smallest elements by segments: unsorted_segment_min<5>(x, ids). Shapes and errors: see unsorted_segment_sum.
template <index_t N, graph_operand X, ids_argument Ids = std::vector<int>>
auto unsorted_segment_min(const X& x, const Ids& ids,
                          const std::source_location& where = std::source_location::current()) {
    static_assert(is_segment_count<N>, "unsorted_segment_min: the number of segments is 0 or more");
    return detail::add_segments<N>(unsorted_segment_min_op{}, x, ids, N, where);
}
/// Overload for a number of segments known only at run time: a host number, or a tensor of rank 0.
template <graph_operand X, ids_argument Ids = std::vector<int>, class N>
    requires(host_integer<N> || graph_operand<N>)
auto unsorted_segment_min(const X& x, const Ids& ids, const N& segments,
                          const std::source_location& where = std::source_location::current()) {
    return detail::add_segments(unsorted_segment_min_op{}, x, ids, segments, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> unsorted_segment_min_op::gradient(const gradient_request& r) const {
    return detail::segment_extremum_gradient<unsorted_segment_min_op>(r);
}

}} // namespace rill::RILL_ABI
#endif
