// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill::inline RILL_ABI {

/// Permutes the axes: axis i of the result is axis order[i] of x; without an order they are reversed. Gradient: permuted
/// back.
struct transpose_op {
    static constexpr auto name = "Transpose";
    axis_list order;

    template <class V> void attributes(V& v) const { v("order", order); }
    constexpr shape_result shape(const dims& x) const { return rules::transpose(x, order); }

    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &x = request.inputs[0].shape, &y = request.outputs[0].shape;
        const auto from = detail::dense_strides(x), to = detail::dense_strides(y);
        detail::strided_layout l;
        for (int i = 0; i < y.rank; ++i) {
            const int axis = order.count == 0 ? y.rank - 1 - i : rules::normal_axis(order[i], y.rank);
            l.push(y[i], from[static_cast<std::size_t>(axis)], to[static_cast<std::size_t>(i)]);
        }
        l.collapse();
        const bool empty = y.size() == 0;
        return kernel([=](const kernel_args& s) {
            if (!empty) D::copy(s.in<T>(0), s.out<T>(0), l);
        });
    }
    friend bool operator==(const transpose_op&, const transpose_op&) = default;
};

/// The order names every axis once.
template <class E, int... Order>
inline constexpr bool is_permutation = rules::transpose(E::value, axis_list{Order...}).ok();

namespace detail {

template <class E, int... Order> struct transpose_rule {
    static constexpr dims value = rules::transpose(E::value, axis_list{Order...}).shape;
};

} // namespace detail

/// transpose<1, 0>(x); transpose(m) reverses the axes.
template <int... Order, graph_operand X>
auto transpose(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(is_permutation<extents_of<X>, Order...>, "transpose: the permutation must name every axis once");
    detail::require_kernel_for<transpose_op, X>();
    const endpoint made = detail::make_node(transpose_op{axis_list{Order...}}, where, x);
    if constexpr (typed_operand<X>)
        return detail::typed_result<true, value_type_of<X>, detail::transpose_rule<extents_of<X>, Order...>>(made);
    else
        return any_tensor(made);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/transpose.ipp>
#endif
