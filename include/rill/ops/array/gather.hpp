// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather_grad.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill::inline RILL_ABI {

/// Slices of a table along an axis, chosen by ids: the axis gives way to the shape of the ids. Gradient by the table: g,
/// added up where the ids say. An id outside the table is out_of_range.
struct gather_op {
    static constexpr auto name = "Gather";
    int axis = 0;

    template <class V> void attributes(V& v) const { v("axis", axis); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, axis);
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            return kernel([=, ids = request.inputs[1].shape](const kernel_args& a) {
                detail::check_indices<D>(a.in<I>(1), ids, view.extent, error_code::out_of_range, "id");
                D::gather(a.in<T>(0), a.in<I>(1), a.out<T>(0), view.outer, view.extent, view.inner, ids.size());
            });
        });
    }
    friend bool operator==(const gather_op&, const gather_op&) = default;
};

/// The result has no more than 8 dimensions.
template <class Table, class Ids> inline constexpr bool gathered_rank_fits = Table::rank - 1 + Ids::rank <= max_rank;

namespace detail {

template <class Table, class Ids, int Axis> struct gather_rule {
    static constexpr dims value = rules::gather(Table::value, Ids::value, Axis).shape;
};

template <class A, class B>
endpoint gathered(const A& table, const B& ids, int axis, const std::source_location& where) {
    if constexpr (typed_operand<B>)
        static_assert(is_index_type<value_type_of<B>>, "gather: the ids must be int or std::int64_t");
    require_kernel_for<gather_op, A>();
    const auto for_gradient = []<class T>(std::type_identity<T>) {
        if constexpr (is_differentiable(dtype_of<T>)) require_kernel<gather_grad_op, T>();
    };
    if constexpr (typed_operand<A>) {
        for_gradient(std::type_identity<value_type_of<A>>{});
    } else {
        for_gradient(std::type_identity<float>{});
        for_gradient(std::type_identity<double>{});
    }
    return make_node(gather_op{axis}, where, table, ids);
}

} // namespace detail

/// gather<1>(table, ids), or gather(table, ids) along axis 0; a negative axis counts from the end.
template <int Axis = 0, graph_operand A, graph_operand B>
auto gather(const A& table, const B& ids, const std::source_location& where = std::source_location::current()) {
    constexpr bool typed = typed_operand<A> && typed_operand<B>;
    if constexpr (typed_operand<A>) static_assert(axes_exist<extents_of<A>, Axis>, "gather: the axis is out of range");
    if constexpr (typed)
        static_assert(gathered_rank_fits<extents_of<A>, extents_of<B>>,
                      "gather: the result would have more than 8 dimensions");
    const endpoint made = detail::gathered(table, ids, Axis, where);
    if constexpr (typed)
        return detail::typed_result<true, value_type_of<A>, detail::gather_rule<extents_of<A>, extents_of<B>, Axis>>(
            made);
    else
        return any_tensor(made);
}
/// Along an axis known at run time only.
template <graph_operand A, graph_operand B>
any_tensor gather(const A& table, const B& ids, int axis,
                  const std::source_location& where = std::source_location::current()) {
    return detail::gathered(table, ids, axis, where);
}

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/gather.ipp>
#endif
