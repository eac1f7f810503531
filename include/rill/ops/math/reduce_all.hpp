// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <bool Keep, int... Axes, class X> auto reduce_all(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_all: an axis is out of range, or named twice");
        static_assert(std::is_same_v<value_type_of<X>, bool>,
                      "reduce_all: the elements must be bool; compare them first");
    }
    return reduce<combine::all, Keep, Axes...>(x, &make_fused_op, where);
}

} // namespace detail

/// Whether all of the elements over axes are true; of nothing, true. All axes without a list; negative axes count from the end. The argument is
/// evaluated in the same pass.
template <int... Axes, graph_operand X>
auto reduce_all(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_all<false, Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_all(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_all<true, Axes...>(x, where);
}

/// Along axes known at run time only: reduce_all(x, {0, -1}).
template <graph_operand X>
any_tensor reduce_all(const X& x, const axis_list& axes,
                      const std::source_location& where = std::source_location::current()) {
    return detail::reduce_at<combine::all>(x, axes, false, &detail::make_fused_op, where);
}
template <graph_operand X>
any_tensor reduce_all(const X& x, const axis_list& axes, keep_dims_t,
                      const std::source_location& where = std::source_location::current()) {
    return detail::reduce_at<combine::all>(x, axes, true, &detail::make_fused_op, where);
}

}} // namespace rill::RILL_ABI
