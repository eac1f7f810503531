// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>
#include <rill/ops/nn/row_program.hpp>

namespace rill::inline RILL_ABI {

namespace detail {

/// The gradient of softmax by its argument, given its result y: y (g - sum(g y)).
endpoint softmax_gradient(const endpoint& y, const endpoint& g);

/// The shape of an op over rows: that of x, which has a last axis.
constexpr shape_result rows_shape(const dims& x) { return {x, x.rank == 0 ? "a scalar has no last axis" : nullptr}; }

} // namespace detail

/// e^x / sum(e^x) over the last axis, free of overflow. Shape: that of x. Gradient: y (g - sum(g y)).
struct softmax_op {
    static constexpr auto name = "Softmax";

    constexpr shape_result shape(const dims& x) const { return detail::rows_shape(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    bool in_place() const { return true; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::row_view v(request.inputs[0].shape);
        request.scratch_bytes = D::template row_scratch<T>(v.columns, 2);
        return kernel(
            [=](const kernel_args& a) { D::softmax(v.rows, v.columns, a.in<T>(0), a.out<T>(0), a.out<void>(1)); });
    }
    friend bool operator==(const softmax_op&, const softmax_op&) = default;
};

/// There is a last axis.
template <class E> inline constexpr bool has_last_axis = E::rank > 0;

namespace detail {

template <class T> void require_softmax() {
    require_kernel<softmax_op, T>();
    require_row_programs<T>();
}

} // namespace detail

template <graph_operand X>
auto softmax(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(has_last_axis<extents_of<X>>, "softmax: a scalar has no last axis");
        static_assert(is_real_floating<value_type_of<X>>, "softmax: the element type is not floating");
    }
    detail::for_floating_types_of<X>([]<class T>(std::type_identity<T>) { detail::require_softmax<T>(); });
    const endpoint made = detail::make_node(softmax_op{}, where, x);
    if constexpr (typed_operand<X>)
        return tensor_of<value_type_of<X>, extents_of<X>>(detail::unchecked, any_tensor(made));
    else
        return any_tensor(made);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/nn/softmax.ipp>
#endif
