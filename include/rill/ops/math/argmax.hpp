// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/math/reduce_extremum.hpp>

namespace rill::inline RILL_ABI {

namespace detail {

/// What argmax and argmin share: the result is an index, and so has no gradient.
struct arg_extremum {
    int axis = 0;
    dtype index = dtype::int32;

    template <class V> void attributes(V& v) const {
        v("axis", axis);
        v("output_type", index);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    friend bool operator==(const arg_extremum&, const arg_extremum&) = default;
};

template <class Op, class Out, class X>
endpoint add_arg_extremum(const X& x, int axis, const std::source_location& where) {
    require_kernel_for<Op, X>();
    return make_node(Op{{axis, dtype_of<Out>}}, where, x);
}

} // namespace detail

/// Where along an axis the largest element is: the first of equals; the first NaN, if there is one.
struct argmax_op : detail::arg_extremum {
    static constexpr auto name = "ArgMax", label = "argmax";
    static constexpr auto no_gradient = "an index does not change smoothly";

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, axis);
        return detail::with_index_type(index, [&]<class Out>(std::type_identity<Out>) {
            return kernel([=](const kernel_args& a) {
                D::argmax(a.in<T>(0), a.out<Out>(0), view.outer, view.extent, view.inner);
            });
        });
    }
    friend bool operator==(const argmax_op&, const argmax_op&) = default;
};

/// argmax<1>(x) in int, argmax<1, std::int64_t>(x); a negative axis counts from the end.
template <int Axis, element Out = std::int32_t, graph_operand X>
auto argmax(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "argmax: the result must be int or std::int64_t");
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "argmax: the axis is out of range");
        static_assert(is_real<value_type_of<X>>, "argmax: the element type is not real");
    }
    const endpoint made = detail::add_arg_extremum<argmax_op, Out>(x, Axis, where);
    if constexpr (typed_operand<X>)
        return detail::typed_result<true, Out, detail::reduce_rule<extents_of<X>, false, Axis>>(made);
    else
        return any_tensor(made);
}
/// Along an axis known at run time only.
template <element Out = std::int32_t, graph_operand X>
any_tensor argmax(const X& x, int axis, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "argmax: the result must be int or std::int64_t");
    return detail::add_arg_extremum<argmax_op, Out>(x, axis, where);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/math/argmax.ipp>
#endif
