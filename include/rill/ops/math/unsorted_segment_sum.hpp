// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/unsorted_segment.hpp>

namespace rill { inline namespace RILL_ABI {

struct segment_gather_op;

/// The sums of a tensor's slices by segments: slice x[k, ..] is added to row ids[k]. The ids need not be sorted. Slices with a negative id
/// are left out. An id that is not below the number of segments is invalid_argument. Gradient: g of the slice's segment.
struct unsorted_segment_sum_op : detail::unsorted_segment<combine::sum> {
    static constexpr auto name = "UnsortedSegmentSum";
    using domain_type = domains::numeric;
    using brings = op_list<segment_gather_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

/// Returns the sums by segments: unsorted_segment_sum<5>(x, ids) of [n, ..] and ids [n] is [5, ..]. Ids may have several axes, the first
/// ones of x.
template <index_t N, graph_operand X, ids_argument Ids = std::vector<int>>
auto unsorted_segment_sum(const X& x, const Ids& ids,
                          const std::source_location& where = std::source_location::current()) {
    static_assert(is_segment_count<N>, "unsorted_segment_sum: the number of segments is 0 or more");
    return detail::add_segments<N>(unsorted_segment_sum_op{}, x, ids, N, where);
}
/// Overload for a number of segments known only at run time: a host number, or a tensor of rank 0.
template <graph_operand X, ids_argument Ids = std::vector<int>, class N>
    requires(host_integer<N> || graph_operand<N>)
auto unsorted_segment_sum(const X& x, const Ids& ids, const N& segments,
                          const std::source_location& where = std::source_location::current()) {
    return detail::add_segments(unsorted_segment_sum_op{}, x, ids, segments, where);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/math/segment_gather.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> unsorted_segment_sum_op::gradient(const gradient_request& r) const {
    return {r.add<unsorted_segment_sum_op>(segment_gather_op{}, {r.gradient(), r.input(1)}), {}, {}};
}

}} // namespace rill::RILL_ABI
#endif
