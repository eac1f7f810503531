// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/linear_recurrence.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/scan.hpp>

namespace rill { inline namespace RILL_ABI {

/// Cumulative products along an axis. Gradient: for each element, the sum of g times the products of the other elements, exact at zeros as
/// well. It is computed as the exclusive product before the element times a reverse recurrence over the elements after it. Complex numbers
/// use the conjugates.
struct cumprod_op : detail::running {
    static constexpr auto name = "Cumprod";
    using domain_type = domains::numeric;
    using brings = op_list<linear_recurrence_op, add_op, mul_op, conj_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return bind_scan<combine::prod, D, T>(request);
    }
};

/// Returns cumulative products: cumprod<0>(x) maps [a, b, c] to [a, a b, a b c]. Options: cumprod<0>(x, {.exclusive = true, .reverse =
/// true}).
template <int Axis, graph_operand X>
auto cumprod(const X& x, const cumulative_options& how = {},
             const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "cumprod: the axis is out of range");
        static_assert(op_takes<cumprod_op, value_type_of<X>>, "cumprod: the element type is not a number");
    }
    return detail::add_scan(x, cumprod_op{{Axis, how}}, where);
}
/// Overload for an axis known only at run time.
template <graph_operand X>
auto cumprod(const X& x, int axis, const cumulative_options& how = {},
             const std::source_location& where = std::source_location::current()) {
    static_assert(are_numbers<X>, "cumprod: the element type is not a number");
    return detail::add_scan(x, cumprod_op{{axis, how}}, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> cumprod_op::gradient(const gradient_request& r) const {
    const endpoint x = detail::conjugate_of(r.input(0)), g = r.gradient();
    const linear_recurrence_op back{axis, !how.reverse};
    if (how.exclusive)
        return {detail::apply_to_edges<mul_op>(detail::conjugate_of(r.output(0)), r.add<cumprod_op>(back, {x, g}))};
    // y[i] is x[i] times the product of the elements before it
    const endpoint before = r.add<cumprod_op>(cumprod_op{{axis, {true, how.reverse}}}, {x});
    const endpoint after = r.add<cumprod_op>(back, {x, detail::apply_to_edges<mul_op>(x, g)});
    return {detail::apply_to_edges<mul_op>(before, detail::apply_to_edges<add_op>(g, after))};
}

}} // namespace rill::RILL_ABI
#endif
