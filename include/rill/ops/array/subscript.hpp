// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/array/strided_slice.hpp>

// x(1), x(1, slice_range{2, 5}), x(all, 0): rows, elements, blocks and columns of a tensor, as NumPy's x[i], x[1, 2:5] and x[:, 0].

namespace rill { inline namespace RILL_ABI {

/// `all` itself, which leaves an axis as it is.
template <class I>
concept whole_axis = std::same_as<std::remove_pointer_t<I>, decltype(all)>;

/// An index of one axis: a whole number drops the axis, a range keeps it.
template <class I>
concept axis_index = host_integer<I> || std::same_as<I, slice_range> || whole_axis<I>;

/// Whole numbers and ranges; or one tensor of indices of axis 0.
template <class... I> inline constexpr bool are_indices = (axis_index<I> && ...);
template <class I> inline constexpr bool are_indices<I> = axis_index<I> || graph_operand<I>;

namespace rules {

/// The shape that indices of types I leave; what a range takes is known at run time only.
template <class... I> constexpr shape_result subscript(const dims& x) {
    constexpr int count = static_cast<int>(sizeof...(I));
    constexpr std::array<bool, sizeof...(I)> drops{host_integer<I>...}, keeps{whole_axis<I>...};
    if (!x.known_rank()) return {dims::unknown()};
    if (count > x.rank) return {x, "there are more indices than axes"};
    dims r;
    for (int i = 0; i < x.rank; ++i)
        if (i >= count || keeps[static_cast<std::size_t>(i)])
            r.push(x[i]);
        else if (!drops[static_cast<std::size_t>(i)])
            r.push(dyn);
    return {r};
}

} // namespace rules

/// The tensor has an axis for each index.
template <class E, class... I> inline constexpr bool an_axis_for_each_index = rules::subscript<I...>(E::value).ok();

namespace detail {

/// The range of one element; a negative index counts from the end. Throws invalid_argument if the axis is known to be shorter.
slice_range range_of_one(const tensor_type& x, int axis, index_t index);

template <class X, class... I> auto subscript(const X& x, const I&... at) {
    static_assert(are_indices<I...>, "x(i): whole numbers, slice_range and all are expected, or one tensor of indices; "
                                     "gather<Axis>(x, indices) takes them along another axis");
    if constexpr ((graph_operand<I> || ...)) {
        return gather(x, at...);
    } else {
        if constexpr (typed_operand<X>)
            static_assert(an_axis_for_each_index<extents_of<X>, I...>, "x(i): there are more indices than axes");
        if (is_null(x)) refuse_null("x(i)");
        rules::slicing ranges;
        axis_list dropped;
        const auto take = [&]<class J>(const J& index) {
            if constexpr (host_integer<J>) {
                const int axis = ranges.begin.rank;
                dropped.push(axis);
                ranges.push(range_of_one(operand_type(x), axis, static_cast<index_t>(index)));
            } else if constexpr (whole_axis<J>) {
                ranges.push(index());
            } else if constexpr (std::same_as<J, slice_range>) {
                ranges.push(index);
            }
        };
        (take(at), ...);
        any_tensor taken = apply_node(strided_slice_op{ranges}, {}, x);
        if (dropped.count > 0) taken = apply_node(squeeze_op{dropped}, {}, taken);
        constexpr auto rule = [](const dims& shape) { return rules::subscript<I...>(shape); };
        return typed_result<void, X>(rule, taken);
    }
}

} // namespace detail

template <class... I>
    requires(sizeof...(I) > 0)
auto any_tensor::operator()(const I&... at) const {
    return detail::subscript(*this, at...);
}
template <class T, index_t... D>
template <class... I>
    requires(sizeof...(I) > 0)
auto tensor<T, D...>::operator()(const I&... at) const {
    return detail::subscript(*this, at...);
}
template <class Op, class... Args>
template <class... I>
    requires(sizeof...(I) > 0)
auto expression<Op, Args...>::operator()(const I&... at) const {
    return detail::subscript(*this, at...);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE slice_range range_of_one(const tensor_type& x, int axis, index_t index) {
    const index_t extent = rules::extent_along(x.shape, axis);
    if (extent != dyn && (index < -extent || index >= extent))
        throw invalid_argument("x(i): index " + std::to_string(index) + " is outside axis " + std::to_string(axis) +
                               " of " + to_string(x));
    return {index, index == -1 ? slice_range::all : index + 1, 1};
}

}}} // namespace rill::RILL_ABI::detail
#endif
