// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/argmax.hpp>

namespace rill { inline namespace RILL_ABI {

/// The index of the smallest element along an axis. The first of equal elements counts. If there is a NaN, the result
/// is the index of the first one.
struct argmin_op : detail::arg_extremum_of<false> {
    static constexpr auto name = "ArgMin", label = "argmin";
};

/// Returns the indices of the smallest elements as int, or as another type: argmin<1>(x), argmin<1, std::int64_t>(x). A
/// negative axis counts from the end.
template <int Axis = 0, element Out = std::int32_t, graph_operand X>
auto argmin(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "argmin: the result must be int or std::int64_t");
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "argmin: the axis is out of range");
        static_assert(is_real<value_type_of<X>>, "argmin: the element type is not real");
    }
    return detail::add_arg_extremum<argmin_op, Axis, Out>(x, where);
}
/// Overload for an axis known only at run time.
template <element Out = std::int32_t, graph_operand X>
auto argmin(const X& x, int axis, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "argmin: the result must be int or std::int64_t");
    static_assert(are_real<X>, "argmin: the element type is not real");
    constexpr auto rule = [](const dims& shape) { return rules::change_rank(shape, -1); };
    return apply_node<Out>(argmin_op{{{axis, dtype_of<Out>}}}, rule, where, x);
}

}} // namespace rill::RILL_ABI
