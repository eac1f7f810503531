// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reshape.hpp>

namespace rill::inline RILL_ABI {

/// Inserts an extent of 1 before an axis; a negative one counts from the end of the result. Shares the memory of x.
/// Gradient: reshaped back.
struct expand_dims_op {
    static constexpr auto name = "ExpandDims";
    static constexpr int alias = 0;
    int axis = 0;

    template <class V> void attributes(V& v) const { v("axis", axis); }
    constexpr shape_result shape(const dims& x) const { return rules::insert_axis(x, axis, 1); }
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return dtype::invalid; }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const { return detail::copy_of_input<D>(request); }
    friend bool operator==(const expand_dims_op&, const expand_dims_op&) = default;
};

template <class E> inline constexpr bool rank_may_grow = E::rank < max_rank;
/// The result would have an axis of this number.
template <class E, int Axis>
inline constexpr bool axis_fits = !rank_may_grow<E> || rules::insert_axis(E::value, Axis, 1).ok();

namespace detail {

template <class E, int Axis> struct expand_dims_rule {
    static constexpr dims value = expand_dims_op{Axis}.shape(E::value).shape;
};

endpoint expanded(const endpoint& x, int axis, const std::source_location& where);

} // namespace detail

/// expand_dims<1>(x): [a, b] becomes [a, 1, b].
template <int Axis, graph_operand X>
auto expand_dims(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(rank_may_grow<extents_of<X>>, "expand_dims: the result would have more than 8 dimensions");
        static_assert(axis_fits<extents_of<X>, Axis>, "expand_dims: the axis is out of range");
    }
    const endpoint made = detail::expanded(detail::seal(x), Axis, where);
    if constexpr (typed_operand<X>)
        return detail::typed_result<true, value_type_of<X>, detail::expand_dims_rule<extents_of<X>, Axis>>(made);
    else
        return any_tensor(made);
}
/// Of a tensor whose rank is known at run time only.
template <graph_operand X>
any_tensor expand_dims(const X& x, int axis, const std::source_location& where = std::source_location::current()) {
    return detail::expanded(detail::seal(x), axis, where);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/expand_dims.ipp>
#endif
