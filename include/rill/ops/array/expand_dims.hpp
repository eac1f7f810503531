// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reshape.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inserts an axis of extent 1. A negative axis counts from the end of the result. Shares the memory of x. Gradient: g,
/// reshaped back.
struct expand_dims_op : detail::rank_change {
    static constexpr auto name = "ExpandDims";
    int axis = 0;

    static void fields(auto& op, auto& visit) { visit("axis", op.axis); }
    constexpr shape_result shape(const dims& x) const { return rules::insert_axis(x, axis, 1); }
};

template <class E> inline constexpr bool rank_may_grow = E::rank < max_rank;
/// True if the axis exists in the result.
template <class E, int Axis>
inline constexpr bool axis_fits = !rank_may_grow<E> || rules::insert_axis(static_dims<E>, Axis, 1).ok();

/// Inserts an axis of extent 1: expand_dims<1>(x) of [a, b] is [a, 1, b].
template <int Axis, graph_operand X>
auto expand_dims(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(rank_may_grow<extents_of<X>>, "expand_dims: the result would have more than 8 dimensions");
        static_assert(axis_fits<extents_of<X>, Axis>, "expand_dims: the axis is out of range");
    }
    constexpr auto rule = [](const dims& shape) { return rules::insert_axis(shape, Axis, 1); };
    return apply_node(expand_dims_op{{}, Axis}, rule, where, x);
}
/// Inserts an axis whose position is known only at run time.
template <graph_operand X>
auto expand_dims(const X& x, int axis, const std::source_location& where = std::source_location::current()) {
    constexpr auto rule = [](const dims& shape) { return rules::change_rank(shape, 1); };
    return apply_node(expand_dims_op{{}, axis}, rule, where, x);
}

}} // namespace rill::RILL_ABI
