// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/math/reduce_extremum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The fields and output types of argmax and argmin. The result is an index, so it has no gradient.
struct arg_extremum {
    static constexpr int inputs = 1;
    int axis = 0;
    dtype index = dtype::int32;

    static void fields(auto& op, auto& visit) {
        visit("axis", op.axis);
        visit("output_type", op.index);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
};

/// The common base of argmax and argmin, with their kernel.
template <bool Largest> struct arg_extremum_of : arg_extremum {
    using domain_type = domains::real;
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = "an index does not change smoothly";

    template <class D, class T> kernel bind(kernel_request& request) const {
        const axis_view view(request.inputs[0].shape, axis);
        return with_index_type(index, [&]<class Out>(std::type_identity<Out>) {
            return kernel([=](const kernel_args& a) {
                D::template arg_extreme<Largest>(a.on, a.in<T>(0), a.out<Out>(0), view.outer, view.extent, view.inner);
            });
        });
    }
};

template <class Op, int Axis, class Out, class X> auto add_arg_extremum(const X& x, const std::source_location& where) {
    constexpr auto rule = [](const dims& shape) { return rules::reduce(shape, axis_list{Axis}, false); };
    return apply_node<Out>(Op{{{Axis, dtype_of<Out>}}}, rule, where, x);
}

} // namespace detail

/// The index of the largest element along an axis. The first of equal elements counts. If there is a NaN, the result is
/// the index of the first one.
struct argmax_op : detail::arg_extremum_of<true> {
    static constexpr auto name = "ArgMax", label = "argmax";
};

/// Returns the indices of the largest elements as int, or as another type: argmax<1>(x), argmax<1, std::int64_t>(x). A
/// negative axis counts from the end.
template <int Axis = 0, element Out = std::int32_t, graph_operand X>
auto argmax(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "argmax: the result must be int or std::int64_t");
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axis>, "argmax: the axis is out of range");
        static_assert(is_real<value_type_of<X>>, "argmax: the element type is not real");
    }
    return detail::add_arg_extremum<argmax_op, Axis, Out>(x, where);
}
/// Overload for an axis known only at run time.
template <element Out = std::int32_t, graph_operand X>
auto argmax(const X& x, int axis, const std::source_location& where = std::source_location::current()) {
    static_assert(is_index_type<Out>, "argmax: the result must be int or std::int64_t");
    static_assert(are_real<X>, "argmax: the element type is not real");
    constexpr auto rule = [](const dims& shape) { return rules::change_rank(shape, -1); };
    return apply_node<Out>(argmax_op{{{axis, dtype_of<Out>}}}, rule, where, x);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::vector<tensor_type> arg_extremum::outputs(std::span<const tensor_type> in) const {
    const auto reduced = rules::reduce(in[0].shape, axis_list{axis}, false);
    if (!reduced.ok()) throw invalid_argument(reduced.reason());
    check_index_type(index, "the result");
    if (in[0].shape.complete() && reduced.shape.size() > 0 && axis_view(in[0].shape, axis).extent == 0)
        throw invalid_argument("nothing to choose from along the axis");
    return {{index, reduced.shape}};
}

}}} // namespace rill::RILL_ABI::detail
#endif
