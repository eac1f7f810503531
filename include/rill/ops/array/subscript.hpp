// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/array/strided_slice.hpp>

// Subscripts of tensors: x(1), x(1, slice_range{2, 5}), x(all, 0), x(all, new_axis). They give rows, elements, blocks, columns and new
// axes, as NumPy's x[i], x[1, 2:5], x[:, 0] and x[:, None]. One of the indices may be a tensor: x(all, ids).

namespace rill { inline namespace RILL_ABI {

/// The type of `all`, which leaves an axis unchanged.
template <class I>
concept whole_axis = std::same_as<std::remove_pointer_t<I>, decltype(all)>;

/// The type of `new_axis`, which inserts an axis.
template <class I>
concept new_axis_index = std::same_as<std::remove_pointer_t<I>, decltype(new_axis)>;

/// An index of one axis. An integer drops the axis, a range keeps it, a tensor of indices replaces it by its own axes.
template <class I>
concept axis_index = host_integer<I> || std::same_as<I, slice_range> || whole_axis<I> || graph_operand<I>;

/// True if the indices are integers, ranges and new axes, with at most one tensor of indices.
template <class... I>
inline constexpr bool are_indices = ((axis_index<I> || new_axis_index<I>) && ...) && (0 + ... + graph_operand<I>) <= 1;
/// The number of indices that refer to an axis of the tensor.
template <class... I> inline constexpr int indexed_axes = (0 + ... + !new_axis_index<I>);

namespace rules {

/// Returns the shape after subscripts of types I. The extents of ranges are known only at run time.
template <class... I> constexpr shape_result subscript(const dims& x) {
    if (!x.known_rank()) return {dims::unknown()};
    if (indexed_axes<I...> > x.rank) return {x, "there are more indices than axes"};
    index_list extents; // extents of the result
    int axis = 0, rank = 0;
    bool known = true;
    const auto push = [&](index_t extent) {
        if (rank++ < max_rank) extents.push(extent);
    };
    const auto take = [&]<class J>(std::type_identity<J>) {
        if constexpr (new_axis_index<J>)
            return push(1);
        else if constexpr (whole_axis<J>)
            push(x[axis]);
        else if constexpr (typed_operand<J>)
            for (int i = 0; i < extents_of<J>::rank; ++i) push(extents_of<J>::value[i]);
        else if constexpr (graph_operand<J>)
            known = false;
        else if constexpr (!host_integer<J>)
            push(dyn);
        ++axis;
    };
    (take(std::type_identity<I>{}), ...);
    for (; axis < x.rank; ++axis) push(x[axis]);
    if (!known) return {dims::unknown()};
    if (rank > max_rank) return {x, "the result would have more than 8 dimensions"};
    dims r;
    for (int i = 0; i < extents.rank; ++i) r.push(extents[i]);
    return {r};
}

} // namespace rules

/// True if the tensor has an axis for each index.
template <class E, class... I> inline constexpr bool an_axis_for_each_index = rules::subscript<I...>(static_dims<E>).ok();

namespace detail {

/// Returns the range of one element. A negative index counts from the end. Throws invalid_argument if the axis is known to be
/// shorter.
slice_range range_of_one(const tensor_type& x, int axis, index_t index);
/// Returns the number of axes of a tensor of indices. Throws invalid_argument if it is unknown.
int subscript_rank(const tensor_type& ids);

template <class X, class... I> auto subscript(const X& x, const I&... at) {
    static_assert(are_indices<I...>,
                  "x(i): whole numbers, slice_range, all and new_axis are expected, and one tensor of "
                  "indices at most; gather_nd(x, indices) takes rows of indices");
    if constexpr (sizeof...(I) == 1 && (graph_operand<I> && ...)) {
        return gather(x, at...);
    } else {
        if constexpr (typed_operand<X>)
            static_assert(an_axis_for_each_index<extents_of<X>, I...>, "x(i): there are more indices than axes");
        if (is_null(x)) refuse_null("x(i)");
        rules::slicing ranges;
        axis_list dropped, added;
        any_tensor ids;
        int ids_axis = 0, place = 0; // axes of the result
        const auto take = [&]<class J>(const J& index) {
            if constexpr (new_axis_index<J>) {
                added.push(place++);
            } else if constexpr (host_integer<J>) {
                const int axis = ranges.begin.rank;
                dropped.push(axis);
                ranges.push(range_of_one(operand_type(x), axis, static_cast<index_t>(index)));
            } else if constexpr (graph_operand<J>) {
                static_assert(are_ids<J>, "x(i): a tensor of indices is of int or std::int64_t");
                ids = any_tensor(sealed(index));
                ids_axis = place - added.count;
                place += subscript_rank(operand_type(index));
                ranges.push(slice_range{});
            } else {
                ++place;
                if constexpr (whole_axis<J>)
                    ranges.push(index());
                else
                    ranges.push(index);
            }
        };
        (take(at), ...);
        any_tensor taken = apply_node(strided_slice_op{ranges}, {}, x);
        if (dropped.count > 0) taken = apply_node(squeeze_op{{}, dropped}, {}, taken);
        if constexpr ((graph_operand<I> || ...)) {
            require_kernel_for<gather_op, X>();
            taken =
                any_tensor(add_op_node(make_op(gather_op{ids_axis}), taken_untyped<gather_op, X>(), {}, taken, ids));
        }
        for (int i = 0; i < added.count; ++i) taken = apply_node(expand_dims_op{{}, added[i]}, {}, taken);
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

RILL_INLINE int subscript_rank(const tensor_type& ids) {
    if (!ids.shape.known_rank()) throw invalid_argument("x(i): the rank of a tensor of indices must be known");
    return ids.shape.rank;
}

}}} // namespace rill::RILL_ABI::detail
#endif
