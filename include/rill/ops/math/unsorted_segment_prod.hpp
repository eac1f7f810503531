// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/linear_recurrence.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/segment_places.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>

namespace rill { inline namespace RILL_ABI {

/// The products of a tensor's slices by segments; 1 without slices. Gradient: g times the product of the segment's other elements, also if
/// some are 0. It is the exclusive cumulative product before each element times the one after it.
struct unsorted_segment_prod_op : detail::unsorted_segment<combine::prod> {
    static constexpr auto name = "UnsortedSegmentProd";
    using domain_type = domains::numeric;
    using brings = op_list<segment_gather_op, unsorted_segment_sum_op, linear_recurrence_op, segment_places_op, mul_op,
                           conj_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

namespace detail {

/// Adds a node for products by segments. Compiles segment_places, which its gradient uses, for the dtype of the ids.
template <index_t Known = dyn, class X, class Ids, class N>
auto add_segment_products(const X& x, const Ids& ids, const N& count, const std::source_location& where) {
    require_kernel_for<segment_places_op, ids_type<Ids>>();
    return add_segments<Known>(unsorted_segment_prod_op{}, x, ids, count, where);
}

} // namespace detail

/// Returns the products by segments: unsorted_segment_prod<5>(x, ids). Shapes and errors: see unsorted_segment_sum.
template <index_t N, graph_operand X, ids_argument Ids = std::vector<int>>
auto unsorted_segment_prod(const X& x, const Ids& ids,
                           const std::source_location& where = std::source_location::current()) {
    static_assert(is_segment_count<N>, "unsorted_segment_prod: the number of segments is 0 or more");
    return detail::add_segment_products<N>(x, ids, N, where);
}
/// Overload for a number of segments known only at run time: a host number, or a tensor of rank 0.
template <graph_operand X, ids_argument Ids = std::vector<int>, class N>
    requires(host_integer<N> || graph_operand<N>)
auto unsorted_segment_prod(const X& x, const Ids& ids, const N& segments,
                           const std::source_location& where = std::source_location::current()) {
    return detail::add_segment_products(x, ids, segments, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> unsorted_segment_prod_op::gradient(const gradient_request& r) const {
    const endpoint x = r.input(0), ids = r.input(1);
    // the product of a segment's elements before each one, in the order of its slices or in reverse
    const auto before = [&](bool reverse) {
        const endpoint place = r.add<unsorted_segment_prod_op>(segment_places_op{reverse}, {ids});
        const auto result = [&](int i) { return endpoint{place.from, i}; };
        const auto in_rows = [&](const endpoint& slices, int at) {
            return r.add<unsorted_segment_prod_op>(unsorted_segment_sum_op{{.like = true}},
                                                   {slices, result(at), result(3)});
        };
        const endpoint products = r.add<unsorted_segment_prod_op>(
            linear_recurrence_op{}, {in_rows(x, 1), in_rows(detail::filled_like(x, 1), 2)});
        return r.add<unsorted_segment_prod_op>(segment_gather_op{}, {products, place});
    };
    const endpoint others = detail::apply_to_edges<mul_op>(before(false), before(true));
    const endpoint g = r.add<unsorted_segment_prod_op>(segment_gather_op{}, {r.gradient(), ids});
    return {detail::apply_to_edges<mul_op>(g, detail::conjugate_of(others)), {}, {}};
}

}} // namespace rill::RILL_ABI
#endif
