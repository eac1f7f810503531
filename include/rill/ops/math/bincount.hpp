// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/ops/array/ones_like.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/unique.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/unsorted_segment_sum.hpp>
#include <rill/ops/nn/clip.hpp>

// Counting: bincount, histogram_fixed_width and unique_with_counts are sums by segments.

namespace rill { inline namespace RILL_ABI {

struct bincount_options {
    index_t minlength = 0;  // the least number of elements of the result
    index_t maxlength = -1; // the largest number of elements; larger values are left out. -1: no limit
};

/// Returns weighted counts: bincount(x, weights, {.maxlength = 10}). Element i of the result is the sum of the weights where x is i. The
/// result has (largest value of x + 1) elements. A negative value is invalid_argument. Gradient for the weights: g at the value of each.
template <typed_operand X, typed_operand W>
auto bincount(const X& x, const W& weights, const bincount_options& how = {},
              const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<value_type_of<X>>, "bincount: int or std::int64_t are counted");
    static_assert(sizes_agree<extents_of<X>, extents_of<W>>, "bincount: there must be a weight for each number");
    using I = value_type_of<X>;
    const tensor ids = reshape<dyn>(x, where);
    const auto count = index_count(ids, {.least = how.minlength, .most = how.maxlength}, where);
    const auto flat = reshape<dyn>(weights, where);
    if (how.maxlength < 0) return unsorted_segment_sum(flat, ids, count, where);
    const tensor kept = select(cast<std::int64_t>(ids) < static_cast<std::int64_t>(how.maxlength), ids, I(-1));
    return unsorted_segment_sum(flat, kept, count, where);
}
/// Returns how often each value occurs, as int: bincount(x).
template <typed_operand X>
auto bincount(const X& x, const bincount_options& how = {},
              const std::source_location& where = std::source_location::current()) {
    const auto all = sealed(x); // read twice
    return bincount(all, cast<int>(ones_like(all)), how, where);
}

namespace detail {

/// The type of a bound beside elements of X: their own type, or double if that is known at run time only.
template <class X> struct bound_beside {
    using type = double;
};
template <typed_operand X> struct bound_beside<X> {
    using type = value_type_of<X>;
};
template <class X> using bound_of = typename bound_beside<X>::type;

/// Returns the number [n] of the part of [low, high) that each element is in.
template <graph_operand X>
tensor<int, dyn> parts_of_range(const X& x, const bound_of<X>& low, const bound_of<X>& high, index_t bins,
                                const std::source_location& where) {
    using T = bound_of<X>;
    static_assert(is_real_floating<T>, "histogram_fixed_width: the elements must be floating");
    require_floating("histogram_fixed_width", x, where);
    if (!(low < high))
        throw invalid_argument("histogram_fixed_width: the range is empty or reversed" + at_place(where));
    const auto part = floor((x - low) / static_cast<T>(high - low) * static_cast<T>(bins));
    return {unchecked, any_tensor(reshape<dyn>(cast<int>(clip(part, T(0), static_cast<T>(bins - 1))), where))};
}

} // namespace detail

/// Counts the elements in each of `Bins` equal parts of [low, high), as int: histogram_fixed_width<10>(x, low, high). Elements outside
/// count for the first or the last part.
template <index_t Bins, graph_operand X>
auto histogram_fixed_width(const X& x, const detail::bound_of<X>& low, const detail::bound_of<X>& high,
                           const std::source_location& where = std::source_location::current()) {
    static_assert(is_segment_count<Bins - 1>, "histogram_fixed_width: there is one part at least");
    const auto ids = detail::parts_of_range(x, low, high, Bins, where);
    return unsorted_segment_sum<Bins>(cast<int>(ones_like(ids)), ids, where);
}
/// Overload for a number of parts known only at run time: histogram_fixed_width(x, low, high, 10).
template <graph_operand X, host_integer N>
auto histogram_fixed_width(const X& x, const detail::bound_of<X>& low, const detail::bound_of<X>& high, N bins,
                           const std::source_location& where = std::source_location::current()) {
    if (bins < 1)
        throw invalid_argument("histogram_fixed_width: the number of parts is " + std::to_string(bins) +
                               ", not 1 or more" + detail::at_place(where));
    const auto ids = detail::parts_of_range(x, low, high, static_cast<index_t>(bins), where);
    return unsorted_segment_sum(cast<int>(ones_like(ids)), ids, bins, where);
}

/// Returns the results of unique and the count of each value as int: auto [values, numbers, counts] = unique_with_counts(x).
template <typed_operand X>
auto unique_with_counts(const X& x, const std::source_location& where = std::source_location::current()) {
    const auto [values, numbers] = unique(x, where);
    return std::tuple(values, numbers,
                      unsorted_segment_sum(cast<int>(ones_like(numbers)), numbers, size(values), where));
}

}} // namespace rill::RILL_ABI
