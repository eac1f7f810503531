// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reshape.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill::inline RILL_ABI {

namespace rules {

/// Drops the axes, whose extents must be 1; without a list, every extent of 1.
constexpr shape_result squeeze(const dims& a, const axis_list& axes) {
    const auto kept = reduce(a, axes, true);
    if (!kept.ok() || !a.known_rank()) return {axes.count == 0 ? dims::unknown() : kept.shape, kept.broken};
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

/// Drops extents of 1. Shares the memory of x. Gradient: reshaped back.
struct squeeze_op {
    static constexpr auto name = "Squeeze";
    static constexpr int alias = 0;
    axis_list axes;

    template <class V> void attributes(V& v) const { v("axes", axes); }
    constexpr shape_result shape(const dims& x) const { return rules::squeeze(x, axes); }
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return dtype::invalid; }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
    friend bool operator==(const squeeze_op&, const squeeze_op&) = default;
};

/// The extents at the axes are 1, or turn out to be.
template <class E, int... Axes>
inline constexpr bool extents_are_one = !axes_exist<E, Axes...> || rules::squeeze(E::value, axis_list{Axes...}).ok();
/// Which extents are 1 is known.
template <class E> inline constexpr bool extents_known = E::value.complete();

namespace detail {

template <class E, int... Axes> struct squeeze_rule {
    static constexpr dims shape = rules::squeeze(E::value, axis_list{Axes...}).shape;
    static constexpr dims value = shape.known_rank() ? shape : dims{}; // after a failed check: merely well-formed
};

endpoint squeezed(const endpoint& x, const axis_list& axes, const std::source_location& where);

} // namespace detail

/// squeeze<0, 2>(x): [1, n, 1] becomes [n]; negative axes count from the end. squeeze(x) drops every extent of 1.
template <int... Axes, graph_operand X>
auto squeeze(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axes...>, "squeeze: an axis is out of range, or named twice");
        static_assert(extents_are_one<extents_of<X>, Axes...>, "squeeze: an extent to drop is not 1");
        if constexpr (sizeof...(Axes) == 0)
            static_assert(extents_known<extents_of<X>>, "squeeze: an extent is dyn: name the axes to drop");
    }
    const endpoint made = detail::squeezed(detail::seal(x), axis_list{Axes...}, where);
    if constexpr (typed_operand<X>)
        return detail::typed_result<true, value_type_of<X>, detail::squeeze_rule<extents_of<X>, Axes...>>(made);
    else
        return any_tensor(made);
}
/// Of a tensor whose rank is known at run time only.
template <graph_operand X>
any_tensor squeeze(const X& x, const axis_list& axes,
                   const std::source_location& where = std::source_location::current()) {
    return detail::squeezed(detail::seal(x), axes, where);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/squeeze.ipp>
#endif
