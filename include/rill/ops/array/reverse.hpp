// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

/// Reverses a tensor along some axes. Gradient: g, reversed.
struct reverse_op {
    static constexpr auto name = "ReverseV2", label = "reverse";
    using domain_type = domains::every;
    using compiled_types = types::moved;
    axis_list axes;

    static void fields(auto& op, auto& visit) { visit("axes", op.axes); }
    constexpr shape_result shape(const dims& x) const {
        if (axes.count == 0) return {x};
        const auto kept = rules::reduce(x, axes, true);
        return {x, kept.broken, kept.axis};
    }
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& x = request.inputs[0].shape;
        auto from = detail::dense_strides(x);
        const auto to = from;
        index_t begin = 0;
        for (int i = 0; i < axes.count; ++i) {
            const int axis = rules::normal_axis(axes[i], x.rank);
            begin += from[axis] * (x[axis] - 1);
            from[axis] = -from[axis];
        }
        detail::strided_layout l;
        for (int i = 0; i < x.rank; ++i) l.push(x[i], from[i], to[i]);
        l.collapse();
        const bool empty = x.size() == 0;
        return kernel([=](const kernel_args& a) {
            if (!empty) D::copy(a.on, a.in<T>(0) + begin, a.out<T>(0), l);
        });
    }
};

/// Reverses x: reverse<0, -1>(x). A negative axis counts from the end.
template <int... Axes, graph_operand X>
    requires(sizeof...(Axes) > 0)
auto reverse(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "reverse: an axis is out of range, or named twice");
    constexpr auto rule = [](const dims& shape) { return reverse_op{axis_list{Axes...}}.shape(shape); };
    return apply_node(reverse_op{axis_list{Axes...}}, rule, where, x);
}
/// Reverses x along axes known only at run time.
template <graph_operand X, runtime_axes A = axis_list>
auto reverse(const X& x, const A& axes, const std::source_location& where = std::source_location::current()) {
    return apply_node(reverse_op{to_axes(axes)}, detail::shape_of_first, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> reverse_op::gradient(const gradient_request& r) const {
    return {r.add<reverse_op>(reverse_op{axes}, {r.gradient()})};
}

}} // namespace rill::RILL_ABI
#endif
