// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/slicing.hpp>

namespace rill { inline namespace RILL_ABI {

struct strided_slice_grad_op;

/// Slices every step-th element of each axis between two positions. Shape: that of the slice. Gradient: g, placed into
/// zeros.
struct strided_slice_op {
    static constexpr auto name = "StridedSlice";
    static constexpr int colocated_input = 0; // sends the slice, not the tensor, between devices
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<strided_slice_grad_op>;
    rules::slicing ranges;

    static void fields(auto& op, auto& visit) { detail::fields_of_slicing(op.ranges, visit); }
    shape_result shape(const dims& x) const { return detail::checked_slice(x, ranges); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type>, std::span<const tensor_type> out) const {
        return detail::cost_of_slices(out[0]);
    }
    strided_view view_of_input(std::span<const tensor_type> in) const {
        return detail::view_of_slice(in[0].shape, ranges);
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([l = detail::layout_of_slice(request.inputs[0].shape, ranges, true)](const kernel_args& a) {
            if (!l.empty) D::copy(a.on, a.in<T>(0) + l.begin, a.out<T>(0), l.layout);
        });
    }
};

template <class E, slice_range... R> inline constexpr bool no_more_ranges_than_axes = sizeof...(R) <= E::rank;
template <slice_range... R> inline constexpr bool steps_are_not_zero = ((R.step != 0) && ...);

/// Slices x: strided_slice<slice_range{0, -1, 2}, slice_range{}>(x) selects every second row but the last, and all columns.
/// Axes without a range are taken whole.
template <slice_range... R, graph_operand X>
    requires(sizeof...(R) > 0)
auto strided_slice(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(steps_are_not_zero<R...>, "strided_slice: a step is 0");
    if constexpr (typed_operand<X>)
        static_assert(no_more_ranges_than_axes<extents_of<X>, R...>, "strided_slice: there are more ranges than axes");
    constexpr auto rule = [](const dims& shape) { return rules::slice(shape, {R...}); };
    return apply_node(strided_slice_op{{R...}}, rule, where, x);
}
/// Slices x by ranges known only at run time: strided_slice(x, {{0, -1, 2}, {}}).
template <graph_operand X>
auto strided_slice(const X& x, std::initializer_list<slice_range> ranges,
                   const std::source_location& where = std::source_location::current()) {
    return apply_node(strided_slice_op{ranges}, detail::rank_of_first, where, x);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/array/strided_slice_grad.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> strided_slice_op::gradient(const gradient_request& r) const {
    return {r.add<strided_slice_op>(strided_slice_grad_op{ranges}, {r.gradient(), r.input(0)})};
}

}} // namespace rill::RILL_ABI
#endif
