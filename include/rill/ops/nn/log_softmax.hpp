// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/nn/softmax.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Computes the logarithm of the softmax of a row.
struct log_softmax_row {
    template <class Layout, class In, class Out, class Numbers>
    RILL_FN void operator()(const Layout& l, const In& in, const Out& out, const Numbers&) const {
        const auto largest = l.largest([&](auto p) { return l.load(in[0], p); });
        const auto log_sum = log(l.sum([&](auto p) { return exp(l.load(in[0], p) - largest); }));
        l.each([&](auto p) { l.store(l.load(in[0], p) - largest - log_sum, out[0], p); });
    }
};

} // namespace detail

/// Computes x - log(sum(e^x)) over the last axis, without overflow. Shape: that of x. Gradient: g - e^y sum(g).
struct log_softmax_op : detail::row_wise_op<detail::log_softmax_row> {
    static constexpr auto name = "LogSoftmax";
    using brings = joined_ops<detail::row_ops, op_list<exp_op>>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

namespace detail {

inline constexpr auto log_softmax_formula = [](const auto& x, const auto& sum) {
    const auto below = sealed(x);
    return sealed(below - log(sum(exp(below))));
};

} // namespace detail

template <graph_operand X>
auto log_softmax(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(has_last_axis<extents_of<X>>, "log_softmax: a scalar has no last axis");
        static_assert(is_real_floating<value_type_of<X>>, "log_softmax: the element type is not floating");
    }
    return apply_node(log_softmax_op{}, detail::shape_of_first, where, x);
}
/// Computes log_softmax along another axis: log_softmax<0>(x). A negative axis counts from the end.
template <int Axis, graph_operand X>
auto log_softmax(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "log_softmax: the axis is out of range");
        static_assert(is_real_floating<value_type_of<X>>, "log_softmax: the element type is not floating");
    }
    return detail::along_axis<Axis>("log_softmax", detail::log_softmax_formula, x, where);
}
/// Computes log_softmax along an axis known only at run time.
template <graph_operand X>
auto log_softmax(const X& x, int axis, const std::source_location& where = std::source_location::current()) {
    static_assert(are_real_floating<X>, "log_softmax: the element type is not floating");
    return detail::along_axis("log_softmax", detail::log_softmax_formula, x, axis, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> log_softmax_op::gradient(const gradient_request& r) const {
    using namespace detail;
    const endpoint g = r.gradient();
    return {row_program<log_softmax_op>({{g}, {r.output(0)}, each_row(row_sum<log_softmax_op>(g))}, false, [](auto t) {
        return t.template emit<sub_op>(
            {t.leaf(0), t.template emit<mul_op>({t.template emit<exp_op>({t.leaf(1)}), t.leaf(2)})});
    })};
}

}} // namespace rill::RILL_ABI
#endif
