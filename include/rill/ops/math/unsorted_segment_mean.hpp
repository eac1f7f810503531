// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/ones_like.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns a sealed tensor, which can be read twice; other values are returned unchanged.
template <class N> auto read_twice(const N& n) {
    if constexpr (graph_operand<N>)
        return sealed(n);
    else
        return n;
}

/// Returns the number of slices of each segment, at least 1. The tensor broadcasts to the sums by segments.
template <index_t Known, class X, class Ids, class N>
auto segment_sizes(const X& x, const Ids& ids, const N& segments, const std::source_location& where) {
    const int slice_axes = rank_of(x) - rank_of(ids);
    if (rank_of(x) < 0 || rank_of(ids) < 0)
        throw invalid_argument("segment_mean: the ranks of the tensor and of the ids must be known" + at_place(where));
    dims column{dyn};
    for (int i = 0; i < slice_axes; ++i) column.push(1);
    if constexpr (typed_operand<X> && typed_operand<Ids>) {
        constexpr auto rule = [](const dims& t, const dims& i) {
            dims r{Known};
            for (int k = i.rank; k < t.rank; ++k) r.push(1);
            return shape_result{r};
        };
        const auto sizes = add_segments<Known>(unsorted_segment_sum_op{}, cast<value_type_of<X>>(ones_like(ids)), ids,
                                               segments, where);
        return maximum(typed_result<void, X, Ids>(rule, reshape(sizes, column, where)), value_type_of<X>(1));
    } else {
        const any_tensor one_each = cast(ones_like(ids), operand_type(x).type, where);
        return maximum(
            reshape(add_segments(unsorted_segment_sum_op{}, one_each, any_tensor(ids), segments, where), column, where),
            1);
    }
}

template <bool Root, index_t Known = dyn, class X, class Ids, class N>
auto mean_of_segments(const X& x, const Ids& ids, const N& segments, const std::source_location& where) {
    if constexpr (typed_operand<X>)
        static_assert(is_differentiable(dtype_of<value_type_of<X>>), "segment_mean: the elements must be floating");
    const auto by = ids_beside(x, ids, where);
    const auto count = read_twice(segments);
    const auto sums = add_segments<Known>(unsorted_segment_sum_op{}, x, by, count, where);
    if constexpr (Root)
        return sums / sqrt(segment_sizes<Known>(x, by, count, where));
    else
        return sums / segment_sizes<Known>(x, by, count, where);
}

} // namespace detail

/// Returns the means of a tensor's slices by segments, as an expression: unsorted_segment_mean<5>(x, ids). A segment without slices is 0.
/// Shapes and errors: see unsorted_segment_sum. Gradient: g divided by the number of slices of the segment.
template <index_t N, graph_operand X, ids_argument Ids = std::vector<int>>
auto unsorted_segment_mean(const X& x, const Ids& ids,
                           const std::source_location& where = std::source_location::current()) {
    static_assert(is_segment_count<N>, "unsorted_segment_mean: the number of segments is 0 or more");
    return detail::mean_of_segments<false, N>(x, ids, N, where);
}
/// Overload for a number of segments known only at run time.
template <graph_operand X, ids_argument Ids = std::vector<int>, class N>
    requires(host_integer<N> || graph_operand<N>)
auto unsorted_segment_mean(const X& x, const Ids& ids, const N& segments,
                           const std::source_location& where = std::source_location::current()) {
    return detail::mean_of_segments<false>(x, ids, segments, where);
}

/// Returns the sums of a tensor's slices by segments, divided by the square roots of their numbers. The result is an expression.
template <index_t N, graph_operand X, ids_argument Ids = std::vector<int>>
auto unsorted_segment_sqrt_n(const X& x, const Ids& ids,
                             const std::source_location& where = std::source_location::current()) {
    static_assert(is_segment_count<N>, "unsorted_segment_sqrt_n: the number of segments is 0 or more");
    return detail::mean_of_segments<true, N>(x, ids, N, where);
}
template <graph_operand X, ids_argument Ids = std::vector<int>, class N>
    requires(host_integer<N> || graph_operand<N>)
auto unsorted_segment_sqrt_n(const X& x, const Ids& ids, const N& segments,
                             const std::source_location& where = std::source_location::current()) {
    return detail::mean_of_segments<true>(x, ids, segments, where);
}

}} // namespace rill::RILL_ABI
