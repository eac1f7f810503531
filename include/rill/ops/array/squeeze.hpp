// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reshape.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

namespace rules {

/// Returns the shape without the given axes, whose extents must be 1. Without a list, drops every extent of 1.
constexpr shape_result squeeze(const dims& a, const axis_list& axes) {
    const auto kept = reduce(a, axes, true);
    if (!kept.ok() || !a.known_rank()) return {axes.count == 0 ? dims::unknown() : kept.shape, kept.broken, kept.axis};
    if (axes.count == 0) {
        if (!a.complete()) return {dims::unknown()};
        dims r;
        for (int i = 0; i < a.rank; ++i)
            if (a[i] != 1) r.push(a[i]);
        return {r};
    }
    for (int i = 0; i < axes.count; ++i)
        if (!extents_compatible(a[normal_axis(axes[i], a.rank)], 1))
            return {reduce(a, axes, false).shape, "an extent to drop is not 1"};
    return reduce(a, axes, false);
}

} // namespace rules

/// Drops axes of extent 1. Shares the memory of x. Gradient: g, reshaped back.
struct squeeze_op : detail::rank_change {
    static constexpr auto name = "Squeeze";
    axis_list axes;

    static void fields(auto& op, auto& visit) { visit("axes", op.axes); }
    constexpr shape_result shape(const dims& x) const { return rules::squeeze(x, axes); }
};

/// True if the extents of the axes are 1, as far as they are known.
template <class E, int... Axes>
inline constexpr bool extents_are_one = !axes_exist<E, Axes...> || rules::squeeze(static_dims<E>, axis_list{Axes...}).ok();
/// True if the type tells which extents are 1.
template <class E> inline constexpr bool extents_known = static_dims<E>.complete();

/// Drops axes of extent 1: squeeze<0, 2>(x) of [1, n, 1] is [n]. Negative axes count from the end. squeeze(x) drops
/// every extent of 1.
template <int... Axes, graph_operand X>
auto squeeze(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axes...>, "squeeze: an axis is out of range, or named twice");
        static_assert(extents_are_one<extents_of<X>, Axes...>, "squeeze: an extent to drop is not 1");
        if constexpr (sizeof...(Axes) == 0)
            static_assert(extents_known<extents_of<X>>, "squeeze: an extent is dyn: name the axes to drop");
    }
    constexpr auto rule = [](const dims& shape) { return rules::squeeze(shape, axis_list{Axes...}); };
    return apply_node(squeeze_op{{}, axis_list{Axes...}}, rule, where, x);
}
/// Drops axes whose positions are known only at run time.
template <graph_operand X, runtime_axes A = axis_list>
auto squeeze(const X& x, const A& axes, const std::source_location& where = std::source_location::current()) {
    constexpr auto rule = [](const dims& shape) { return rules::reduce_later<A>(shape, false); };
    return apply_node(squeeze_op{{}, to_axes(axes)}, rule, where, x);
}
template <graph_operand X, std::size_t N>
auto squeeze(const X& x, const int (&axes)[N], const std::source_location& where = std::source_location::current()) {
    return squeeze(x, std::to_array(axes), where);
}

}} // namespace rill::RILL_ABI
