// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the gradient of a maximum or minimum by segments, as in TensorFlow.
template <class Self> std::vector<endpoint> segment_extremum_gradient(const gradient_request& r) {
    const endpoint x = r.input(0), ids = r.input(1);
    const endpoint chosen = r.add<Self>(segment_gather_op{}, {r.output(0), ids});
    const endpoint hits = map_edges({x, chosen}, [](tracer& t, dtype type) {
        return emit_if_equal<equal_op, select_op>(t, type, t.leaf(0), t.leaf(1), t.constant(scalar_of(type, 1)),
                                                  t.constant(scalar_of(type, 0)));
    });
    const endpoint count = r.add<Self>(unsorted_segment_sum_op{{.like = true}}, {hits, ids, r.output(0)});
    const endpoint share = r.add<Self>(segment_gather_op{}, {apply_to_edges<div_op>(r.gradient(), count), ids});
    return {map_edges({x, chosen, share},
                      [](tracer& t, dtype type) {
                          return emit_if_equal<equal_op, select_op>(t, type, t.leaf(0), t.leaf(1), t.leaf(2),
                                                                    t.constant(scalar_of(type, 0)));
                      }),
            {},
            {}};
}

} // namespace detail

/// The largest elements of a tensor's slices by segments; without slices, the lowest finite number. Gradient: g, in equal shares to the
/// largest elements of each segment.
struct unsorted_segment_max_op : detail::unsorted_segment<combine::max> {
    static constexpr auto name = "UnsortedSegmentMax";
    using domain_type = domains::real;
    using brings = op_list<segment_gather_op, unsorted_segment_sum_op, equal_op, select_op, div_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

/// Returns the largest elements by segments: unsorted_segment_max<5>(x, ids). Shapes and errors: see unsorted_segment_sum.
template <index_t N, graph_operand X, ids_argument Ids = std::vector<int>>
auto unsorted_segment_max(const X& x, const Ids& ids,
                          const std::source_location& where = std::source_location::current()) {
    static_assert(is_segment_count<N>, "unsorted_segment_max: the number of segments is 0 or more");
    return detail::add_segments<N>(unsorted_segment_max_op{}, x, ids, N, where);
}
/// Overload for a number of segments known only at run time: a host number, or a tensor of rank 0.
template <graph_operand X, ids_argument Ids = std::vector<int>, class N>
    requires(host_integer<N> || graph_operand<N>)
auto unsorted_segment_max(const X& x, const Ids& ids, const N& segments,
                          const std::source_location& where = std::source_location::current()) {
    return detail::add_segments(unsorted_segment_max_op{}, x, ids, segments, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> unsorted_segment_max_op::gradient(const gradient_request& r) const {
    return detail::segment_extremum_gradient<unsorted_segment_max_op>(r);
}

}} // namespace rill::RILL_ABI
#endif
