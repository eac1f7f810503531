// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>

namespace rill { inline namespace RILL_ABI {

/// The products of a tensor's slices by segments; 1 where a segment has none. Gradient: g times the product of the segment's other elements.
struct unsorted_segment_prod_op : detail::unsorted_segment<combine::prod> {
    static constexpr auto name = "UnsortedSegmentProd";
    using domain_type = domains::numeric;
    using brings = op_list<segment_gather_op, unsorted_segment_sum_op, unsorted_segment_prod_op, equal_op, select_op,
                           div_op, mul_op, conj_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

/// unsorted_segment_prod<5>(x, ids): as unsorted_segment_sum.
template <index_t N, graph_operand X, graph_operand Ids>
auto unsorted_segment_prod(const X& x, const Ids& ids,
                           const std::source_location& where = std::source_location::current()) {
    static_assert(is_segment_count<N>, "unsorted_segment_prod: the number of segments is 0 or more");
    return detail::add_segments<N>(unsorted_segment_prod_op{}, x, ids, N, where);
}
/// Of a number of segments that is known at run time only: a number of the host, or a tensor of rank 0.
template <graph_operand X, graph_operand Ids, class N>
    requires(host_integer<N> || graph_operand<N>)
auto unsorted_segment_prod(const X& x, const Ids& ids, const N& segments,
                           const std::source_location& where = std::source_location::current()) {
    return detail::add_segments(unsorted_segment_prod_op{}, x, ids, segments, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> unsorted_segment_prod_op::gradient(const gradient_request& r) const {
    const endpoint x = r.input(0), ids = r.input(1);
    const auto of_segment = [&](const endpoint& rows) {
        return r.add<unsorted_segment_prod_op>(segment_gather_op{}, {rows, ids});
    };
    const auto where_zero = [&](double then, bool or_x) {
        return detail::map_edges({x}, [&](tracer& t, dtype type) {
            const int zero = t.constant(detail::scalar_of(type, 0));
            return detail::emit_if_equal<equal_op, select_op>(
                t, type, t.leaf(0), zero, t.constant(detail::scalar_of(type, then)), or_x ? t.leaf(0) : zero);
        });
    };
    // the product of the others: without zeros the quotient, beside one zero the product of those that are not; beside two it is 0
    const endpoint without = of_segment(r.add<unsorted_segment_prod_op>(unsorted_segment_prod_op{{.like = true}},
                                                                        {where_zero(1, true), ids, r.output(0)}));
    const endpoint zeros = of_segment(r.add<unsorted_segment_prod_op>(unsorted_segment_sum_op{{.like = true}},
                                                                      {where_zero(1, false), ids, r.output(0)}));
    const endpoint others = detail::map_edges({x, zeros, without, of_segment(r.output(0))}, [](tracer& t, dtype type) {
        const int zero = t.constant(detail::scalar_of(type, 0)), one = t.constant(detail::scalar_of(type, 1));
        const int at_zero = detail::emit_if_equal<equal_op, select_op>(t, type, t.leaf(1), one, t.leaf(2), zero);
        return detail::emit_if_equal<equal_op, select_op>(t, type, t.leaf(0), zero, at_zero,
                                                          t.emit<div_op>({t.leaf(3), t.leaf(0)}));
    });
    return {detail::apply_to_edges<mul_op>(of_segment(r.gradient()), detail::conjugate_of(others)), {}, {}};
}

}} // namespace rill::RILL_ABI
#endif
