// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/exp.hpp>
#include <rill/ops/nn/softmax.hpp>

namespace rill::inline RILL_ABI {

/// x - log(sum(e^x)) over the last axis, free of overflow. Shape: that of x. Gradient: g - e^y sum(g).
struct log_softmax_op {
    static constexpr auto name = "LogSoftmax";

    constexpr shape_result shape(const dims& x) const { return detail::rows_shape(x); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    bool in_place() const { return true; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::row_view v(request.inputs[0].shape);
        request.scratch_bytes = D::template row_scratch<T>(v.columns, 2);
        return kernel(
            [=](const kernel_args& a) { D::log_softmax(v.rows, v.columns, a.in<T>(0), a.out<T>(0), a.out<void>(1)); });
    }
    friend bool operator==(const log_softmax_op&, const log_softmax_op&) = default;
};

namespace detail {

template <class T> void require_log_softmax() {
    require_kernel<log_softmax_op, T>();
    require_primitive<exp_op, T>();
    require_row_programs<T>();
}

} // namespace detail

template <graph_operand X>
auto log_softmax(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(has_last_axis<extents_of<X>>, "log_softmax: a scalar has no last axis");
        static_assert(is_real_floating<value_type_of<X>>, "log_softmax: the element type is not floating");
    }
    detail::for_floating_types_of<X>([]<class T>(std::type_identity<T>) { detail::require_log_softmax<T>(); });
    const endpoint made = detail::make_node(log_softmax_op{}, where, x);
    if constexpr (typed_operand<X>)
        return tensor_of<value_type_of<X>, extents_of<X>>(detail::unchecked, any_tensor(made));
    else
        return any_tensor(made);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/nn/log_softmax.ipp>
#endif
