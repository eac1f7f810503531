// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reshape.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/cumprod.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/second_pass.hpp>

namespace rill { inline namespace RILL_ABI {

/// The product over axes; 1 for no elements. Gradient: g times the (conjugated) product of the other elements, also if some are 0 or
/// infinite. It is the exclusive product before each element times the one after it.
struct reduce_prod_op {
    static constexpr auto name = "Prod", label = "reduce_prod";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<reduce_prod_op, cumprod_op, mul_op, conj_op, reshape_op, reshape_like_op,
                           combining<combine::prod>, combining<combine::sum>>;
    fused_spec spec;

    static void fields(auto& op, auto& visit) { visit("spec", op.spec); }
    const fused_spec* fused() const { return &spec; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return detail::fused_outputs(spec, in); }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    input_list shape_only_inputs(int count) const { return detail::unread_inputs(spec, 0, count); }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type> out) const {
        return detail::fused_cost(spec, in, out);
    }
    template <class D, class T> kernel bind(kernel_request& request) const { return D::fused(spec, request); }

    static op_ptr make(fused_spec spec) { return make_op(reduce_prod_op{std::move(spec)}); }
};

namespace detail {

template <bool Keep, int... Axes, class X> auto reduce_prod(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_prod: an axis is out of range, or named twice");
    static_assert(are_numbers<X>, "reduce_prod: the element type is not a number");
    require_kernel_for<reduce_prod_op, X>();
    return reduce<combine::prod, Keep, Axes...>(x, &reduce_prod_op::make, where);
}

} // namespace detail

/// Returns the product over axes. The product of no elements is 1. Without a list, all axes are reduced; negative axes count from the end.
/// The argument is evaluated in the same pass.
template <int... Axes, graph_operand X>
auto reduce_prod(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_prod<false, Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_prod(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_prod<true, Axes...>(x, where);
}

/// Overload for axes known only at run time: reduce_prod(x, 1), reduce_prod(x, {0, -1}), reduce_prod(x, 1, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto reduce_prod(const X& x, const A& axes, K = {},
                 const std::source_location& where = std::source_location::current()) {
    static_assert(are_numbers<X>, "reduce_prod: the element type is not a number");
    detail::require_kernel_for<reduce_prod_op, X>();
    return detail::reduce_at<combine::prod, K>(x, axes, &reduce_prod_op::make, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto reduce_prod(const X& x, const int (&axes)[N], K keep = {},
                 const std::source_location& where = std::source_location::current()) {
    return reduce_prod(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> reduce_prod_op::gradient(const gradient_request& r) const {
    const detail::second_pass pass(spec, r);
    const auto others_along = [&](const endpoint& x, int axis) {
        return detail::apply_to_edges<mul_op>(
            r.add<reduce_prod_op>(cumprod_op{{axis, {.exclusive = true}}}, {x}),
            r.add<reduce_prod_op>(cumprod_op{{axis, {.exclusive = true, .reverse = true}}}, {x}));
    };
    const endpoint x = pass.argument();
    axis_list axes = spec.results[0].reduce.axes;
    const int rank = type_of(x).shape.rank;
    endpoint others;
    if (axes.count == 0 && rank < 0) { // all axes of an unknown rank: flattened to one
        const endpoint flat = r.add<reduce_prod_op>(reshape_op{dims{dyn}}, {x});
        others = r.add<reduce_prod_op>(reshape_like_op{}, {others_along(flat, 0), x});
    } else {
        if (axes.count == 0)
            for (int i = 0; i < rank; ++i) axes.set(axes.count++, i);
        // the product of the others along one axis, times that of the other axes
        endpoint rest = x;
        for (int i = 0; i < axes.count; ++i) {
            const endpoint along = others_along(rest, axes[i]);
            others = others ? detail::apply_to_edges<mul_op>(others, along) : along;
            if (i + 1 < axes.count)
                rest = detail::add_reduction(any_tensor(rest), {combine::prod, axis_list{axes[i]}, true}, &make, {});
        }
        if (!others) others = detail::filled_like(x, 1); // x has rank 0
    }
    const endpoint dx = pass.run_over(detail::conjugate_of(others), {r.gradient()},
                                      [](tracer& t) { return t.emit<mul_op>({t.leaf(0), t.leaf(1)}); }, {});
    return pass.finish(dx);
}

}} // namespace rill::RILL_ABI
#endif
