// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/nn/row_program.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the shape of a row-wise op: that of x, which must have a last axis.
constexpr shape_result rows_shape(const dims& x) { return {x, x.rank == 0 ? "a scalar has no last axis" : nullptr}; }

/// The base of row-wise ops. `Row` computes a row, and needs scratch memory for two rows.
template <class Row> struct row_wise_op {
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;

    constexpr shape_result shape(const dims& x) const { return rows_shape(x); }
    bool in_place() const { return true; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const row_view v(request.inputs[0].shape);
        request.scratch_bytes = D::template row_scratch<T>(v.columns, 2);
        return kernel([=](const kernel_args& a) {
            D::rows(a.on, v.rows, v.columns, std::array{a.in<T>(0)}, std::array{a.out<T>(0)}, row_numbers<T>{}, Row{});
        });
    }
};

/// Stores e^(x - largest) of a row and returns the largest and the sum.
template <class Layout, class C> RILL_FN auto exponentials(const Layout& l, const C* x, C* e) {
    using V = typename Layout::V;
    const V largest = l.largest([&](auto p) { return l.load(x, p); });
    const V sum = l.sum([&](auto p) {
        const V v = exp(l.load(x, p) - largest);
        l.store(v, e, p);
        return v;
    });
    return std::pair<V, V>(largest, sum);
}

/// Computes the softmax of a row.
struct softmax_row {
    template <class Layout, class In, class Out, class Numbers>
    RILL_FN void operator()(const Layout& l, const In& in, const Out& out, const Numbers&) const {
        using V = typename Layout::V;
        const V scale = V(1) / exponentials(l, in[0], out[0]).second;
        l.each([&](auto p) { l.store(l.load(out[0], p) * scale, out[0], p); });
    }
};

/// Returns the gradient of softmax for its argument, given its result y: y (g - sum(g y)). Self is the op whose
/// gradient it is part of.
template <class Self> endpoint softmax_gradient(const endpoint& y, const endpoint& g) {
    return row_program<Self>({{y}, {g}, each_row(row_dot<Self>(g, y))}, false, [](auto t) {
        return t.template emit<mul_op>({t.leaf(0), t.template emit<sub_op>({t.leaf(1), t.leaf(2)})});
    });
}

} // namespace detail

/// Computes e^x / sum(e^x) over the last axis, without overflow. Shape: that of x. Gradient: y (g - sum(g y)).
struct softmax_op : detail::row_wise_op<detail::softmax_row> {
    static constexpr auto name = "Softmax";
    using brings = detail::row_ops;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

namespace detail {

// Softmax along other axes than the last. A formula takes x minus its largest element, and a sum along the axis. The largest element
// cancels out, so it needs no gradient.

template <int Axis, class Formula, class X>
auto along_axis(const char* op, const Formula& formula, const X& x, const std::source_location& where) {
    const auto all = floating_operand(op, x, where);
    require_axes<Axis>(op, all, where);
    return formula(all - stop_gradient(rill::reduce_max<Axis>(all, keep_dims, where)),
                   [&](const auto& v) { return rill::reduce_sum<Axis>(v, keep_dims, where); });
}
template <class Formula, class X>
auto along_axis(const char* op, const Formula& formula, const X& x, int axis, const std::source_location& where) {
    const auto all = floating_operand(op, x, where);
    require_axes(op, all, axis_list{axis}, where);
    const any_tensor made = formula(all - stop_gradient(rill::reduce_max(all, axis, keep_dims, where)),
                                    [&](const auto& v) { return rill::reduce_sum(v, axis, keep_dims, where); });
    return typed_result<void, X>(shape_of_first, made);
}

inline constexpr auto softmax_formula = [](const auto& below, const auto& sum) {
    const auto e = sealed(exp(below));
    return sealed(e / sum(e));
};

} // namespace detail

/// True if there is a last axis.
template <class E> inline constexpr bool has_last_axis = E::rank > 0;

template <graph_operand X>
auto softmax(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(has_last_axis<extents_of<X>>, "softmax: a scalar has no last axis");
        static_assert(is_real_floating<value_type_of<X>>, "softmax: the element type is not floating");
    }
    return apply_node(softmax_op{}, detail::shape_of_first, where, x);
}
/// Computes softmax along another axis: softmax<0>(x). A negative axis counts from the end.
template <int Axis, graph_operand X>
auto softmax(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "softmax: the axis is out of range");
        static_assert(is_real_floating<value_type_of<X>>, "softmax: the element type is not floating");
    }
    return detail::along_axis<Axis>("softmax", detail::softmax_formula, x, where);
}
/// Computes softmax along an axis known only at run time.
template <graph_operand X>
auto softmax(const X& x, int axis, const std::source_location& where = std::source_location::current()) {
    static_assert(are_real_floating<X>, "softmax: the element type is not floating");
    return detail::along_axis("softmax", detail::softmax_formula, x, axis, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> softmax_op::gradient(const gradient_request& r) const {
    return {detail::softmax_gradient<softmax_op>(r.output(0), r.gradient())};
}

}} // namespace rill::RILL_ABI
#endif
