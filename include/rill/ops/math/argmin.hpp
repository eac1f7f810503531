// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/argmax.hpp>

namespace rill::inline RILL_ABI {

/// Where along an axis the smallest element is: the first of equals; the first NaN, if there is one.
struct argmin_op : detail::arg_extremum {
    static constexpr auto name = "ArgMin", label = "argmin";
    static constexpr auto no_gradient = "an index does not change smoothly";

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, axis);
        return detail::with_index_type(index, [&]<class Out>(std::type_identity<Out>) {
            return kernel([=](const kernel_args& a) {
                D::argmin(a.in<T>(0), a.out<Out>(0), view.outer, view.extent, view.inner);
            });
        });
    }
    friend bool operator==(const argmin_op&, const argmin_op&) = default;
};

/// argmin<1>(x) in int, argmin<1, std::int64_t>(x); a negative axis counts from the end.
template <int Axis, element Out = std::int32_t, graph_operand X>
auto argmin(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "argmin: the result must be int or std::int64_t");
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "argmin: the axis is out of range");
        static_assert(is_real<value_type_of<X>>, "argmin: the element type is not real");
    }
    const endpoint made = detail::add_arg_extremum<argmin_op, Out>(x, Axis, where);
    if constexpr (typed_operand<X>)
        return detail::typed_result<true, Out, detail::reduce_rule<extents_of<X>, false, Axis>>(made);
    else
        return any_tensor(made);
}
/// Along an axis known at run time only.
template <element Out = std::int32_t, graph_operand X>
any_tensor argmin(const X& x, int axis, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "argmin: the result must be int or std::int64_t");
    return detail::add_arg_extremum<argmin_op, Out>(x, axis, where);
}

} // namespace rill::inline RILL_ABI
