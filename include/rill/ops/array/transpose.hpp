// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Permutes the axes. Axis i of the result is axis order[i] of x. Without an order the axes are reversed. Gradient: g,
/// permuted back.
struct transpose_op {
    static constexpr auto name = "Transpose";
    using domain_type = domains::every;
    using compiled_types = types::moved;
    axis_list order;

    static void fields(auto& op, auto& visit) { visit("order", op.order); }
    constexpr shape_result shape(const dims& x) const { return rules::transpose(x, order); }

    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims &x = request.inputs[0].shape, &y = request.outputs[0].shape;
        const auto from = detail::dense_strides(x), to = detail::dense_strides(y);
        detail::strided_layout l;
        for (int i = 0; i < y.rank; ++i) {
            const int axis = order.count == 0 ? y.rank - 1 - i : rules::normal_axis(order[i], y.rank);
            l.push(y[i], from[axis], to[i]);
        }
        l.collapse();
        const bool empty = y.size() == 0;
        return kernel([=](const kernel_args& s) {
            if (!empty) D::copy(s.on, s.in<T>(0), s.out<T>(0), l);
        });
    }
};

/// True if the order contains every axis once.
template <class E, int... Order>
inline constexpr bool is_permutation = rules::transpose(static_dims<E>, axis_list{Order...}).ok();

/// Permutes the axes: transpose<1, 0>(x). transpose(m) reverses them.
template <int... Order, graph_operand X>
auto transpose(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(is_permutation<extents_of<X>, Order...>, "transpose: the permutation must name every axis once");
    constexpr auto rule = [](const dims& shape) { return rules::transpose(shape, axis_list{Order...}); };
    return apply_node(transpose_op{axis_list{Order...}}, rule, where, x);
}

/// Permutes the axes in an order known only at run time: transpose(x, {1, 0}).
template <graph_operand X>
auto transpose(const X& x, const axis_list& order,
               const std::source_location& where = std::source_location::current()) {
    return apply_node(transpose_op{order}, detail::rank_of_first, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> transpose_op::gradient(const gradient_request& r) const {
    transpose_op back;
    for (int i = 0; i < order.count; ++i) back.order.set(rules::normal_axis(order[i], order.count), i);
    back.order.count = order.count;
    return {r.add<transpose_op>(back, {r.gradient()})};
}

}} // namespace rill::RILL_ABI
#endif
