// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/cumsum.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Running products along an axis. Gradient: the running sums of g times the products, the other way, over x (of complex numbers over
/// and times the conjugates); 0 at a 0 in x, as TensorFlow's.
struct cumprod_op : detail::running {
    static constexpr auto name = "Cumprod";
    using domain_type = domains::numeric;
    using brings = op_list<cumsum_op, mul_op, div_op, conj_op, equal_op, select_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return bind_scan<combine::prod, D, T>(request);
    }
};

/// cumprod<0>(x): [a, b, c] becomes [a, a b, a b c]; cumprod<0>(x, {.exclusive = true, .reverse = true}).
template <int Axis, graph_operand X>
auto cumprod(const X& x, const cumulative_options& how = {},
             const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "cumprod: the axis is out of range");
        static_assert(op_takes<cumprod_op, value_type_of<X>>, "cumprod: the element type is no number");
    }
    return detail::add_scan(x, cumprod_op{{Axis, how}}, where);
}
/// Along an axis known at run time only.
template <graph_operand X>
any_tensor cumprod(const X& x, int axis, const cumulative_options& how = {},
                   const std::source_location& where = std::source_location::current()) {
    return apply_node(cumprod_op{{axis, how}}, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> cumprod_op::gradient(const gradient_request& r) const {
    cumsum_op back{{axis, {how.exclusive, !how.reverse}}};
    const endpoint weighted = detail::apply_to_edges<mul_op>(detail::conjugate_of(r.output(0)), r.gradient());
    const endpoint sums = r.add<cumprod_op>(back, {weighted}), x = detail::conjugate_of(r.input(0));
    const dtype type = type_of(x).type;
    tracer t({type, type}, {});
    const int zero = t.constant(detail::scalar_of(type, 0)), one = t.constant(detail::scalar_of(type, 1));
    const int at_zero = t.emit(info_of<equal_op>, dtype::boolean, {t.leaf(0), zero});
    const int by = t.emit(info_of<select_op>, type, {at_zero, one, t.leaf(0)}); // no 0 / 0 in gradients of this either
    const int quotient = t.emit<div_op>({t.leaf(1), by});
    const int result = t.emit(info_of<select_op>, type, {at_zero, zero, quotient});
    return {detail::add_program(graph(*r.at.owner), t.finish({result}), t.scalars(), {x, sums})};
}

}} // namespace rill::RILL_ABI
#endif
