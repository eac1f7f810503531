// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

/// Rolls elements along an axis. Elements that leave at one end enter at the other. Shape: that of x. Gradient: g, rolled
/// back.
struct roll_op {
    static constexpr auto name = "Roll";
    using domain_type = domains::every;
    using compiled_types = types::common;
    index_t shift = 0;
    int axis = 0;

    static void fields(auto& op, auto& visit) {
        visit("shift", op.shift);
        visit("axis", op.axis);
    }
    constexpr shape_result shape(const dims& x) const {
        if (x.known_rank() && rules::normal_axis(axis, x.rank) < 0) return shape_result::wrong_axis(x, axis);
        return {x};
    }
    std::vector<endpoint> gradient(const gradient_request& r) const {
        return {r.add<roll_op>(roll_op{-shift, axis}, {r.gradient()})};
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, axis);
        const index_t row = view.extent * view.inner, n = view.extent;
        const index_t by = n == 0 ? 0 : (shift % n + n) % n; // the first `n - by` elements come after the others
        const auto part = [&](index_t count) {
            detail::strided_layout l;
            l.push(view.outer, row, row);
            l.push(count * view.inner, 1, 1);
            l.collapse();
            return l;
        };
        return kernel([=, first = part(n - by), last = part(by), to = by * view.inner, from = (n - by) * view.inner,
                       empty = request.outputs[0].shape.size() == 0](const kernel_args& a) {
            if (empty) return;
            D::copy(a.on, a.in<T>(0), a.out<T>(0) + to, first);
            if (to > 0) D::copy(a.on, a.in<T>(0) + from, a.out<T>(0), last);
        });
    }
};

/// Rolls x along an axis: roll<0>(x, 1) moves the last row to the front. A negative axis counts from the end.
template <int Axis, graph_operand X>
auto roll(const X& x, index_t shift, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) static_assert(axes_exist<extents_of<X>, Axis>, "roll: the axis is out of range");
    return apply_node(roll_op{shift, Axis}, [](const dims& shape) { return shape_result{shape}; }, where, x);
}
/// Rolls x along an axis known only at run time.
template <graph_operand X>
auto roll(const X& x, index_t shift, int axis, const std::source_location& where = std::source_location::current()) {
    return apply_node(roll_op{shift, axis}, [](const dims& shape) { return shape_result{shape}; }, where, x);
}

}} // namespace rill::RILL_ABI
