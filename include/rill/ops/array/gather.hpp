// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>
#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

struct add_rows_op;
struct concat_op;
struct gather_grad_op;
struct reshape_op;

/// Gathers slices of a table along an axis, by ids. The shape of the ids replaces the axis. Gradient for the table: g,
/// added up at the ids. An id outside the table is invalid_argument.
struct gather_op {
    static constexpr auto name = "Gather";
    static constexpr int inputs = 2, reads_slices_of = 0;
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings =
        op_list<gather_grad_op, add_rows_op, concat_op, reshape_op>; // gradients of several uses are combined
    static constexpr int colocated_input = 0;                        // sends the rows, not the table, between devices
    int axis = 0;

    static void fields(auto& op, auto& visit) { visit("axis", op.axis); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type>, std::span<const tensor_type> out) const {
        return detail::cost_of_slices(out[0]);
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::axis_view view(request.inputs[0].shape, axis);
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            const detail::index_check<I> ids(request.inputs[1].shape, view.extent, "id");
            return kernel([=](const kernel_args& a) {
                detail::check_indices<D>(a.on, ids, a.in<I>(1));
                D::gather(a.on, a.in<T>(0), a.in<I>(1), a.out<T>(0), view.outer, view.extent, view.inner, ids.count);
            });
        });
    }
};

/// True if the result has at most 8 dimensions.
template <class Table, class Ids> inline constexpr bool gathered_rank_fits = Table::rank - 1 + Ids::rank <= max_rank;
namespace detail {

/// Registers the ops that concatenate the gradients and ids of several look-ups.
template <class Ids> void require_joined_ids();

} // namespace detail

/// Gathers slices: gather<1>(table, ids), or gather(table, ids) along axis 0. A negative axis counts from the end. Ids may be host
/// values: gather(table, 3), gather(table, {0, 2}). A look-up in a variable is colocated with the variable, unless a device_scope decides
/// `explicitly`.
template <int Axis = 0, graph_operand A, ids_argument B = std::vector<int>>
auto gather(const A& table, const B& ids, const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<B>, "gather: the ids must be int or std::int64_t");
    const auto& at = detail::ids_operand(ids, where);
    using I = std::remove_cvref_t<decltype(at)>;
    if constexpr (typed_operand<A>) static_assert(axes_exist<extents_of<A>, Axis>, "gather: the axis is out of range");
    if constexpr (typed_operand<A> && typed_operand<I>)
        static_assert(gathered_rank_fits<extents_of<A>, extents_of<I>>,
                      "gather: the result would have more than 8 dimensions");
    constexpr auto rule = [](const dims& t, const dims& i) { return rules::gather(t, i, Axis); };
    detail::require_joined_ids<I>();
    return apply_node(gather_op{Axis}, rule, where, table, at);
}
/// Gathers slices along an axis known only at run time.
template <graph_operand A, ids_argument B = std::vector<int>>
auto gather(const A& table, const B& ids, int axis,
            const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<B>, "gather: the ids must be int or std::int64_t");
    const auto& at = detail::ids_operand(ids, where);
    constexpr auto rule = [](const dims& t, const dims& i) {
        return i.known_rank() ? rules::change_rank(t, i.rank - 1) : shape_result{dims::unknown()};
    };
    detail::require_joined_ids<std::remove_cvref_t<decltype(at)>>();
    return apply_node(gather_op{axis}, rule, where, table, at);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/array/add_rows.hpp> // its gradients, as this is the gradient of those
#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/gather_grad.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/math/cast.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

template <class Ids> void require_joined_ids() {
    if constexpr (untyped_operand<Ids>) {
        require_kernel<concat_op, std::int32_t>();
        require_kernel<concat_op, std::int64_t>();
        require_elementwise<cast_op<std::int64_t>, std::int32_t>();
    } else if constexpr (is_index_type<value_type_of<Ids>>) {
        require_kernel<concat_op, value_type_of<Ids>>();
        if constexpr (std::is_same_v<value_type_of<Ids>, std::int64_t>) // ids of other look-ups may be int
            require_elementwise<cast_op<std::int64_t>, std::int32_t>();
    }
}

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> gather_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the ids");
    const auto slices = rules::gather(in[0].shape, in[1].shape, axis);
    if (!slices.ok()) throw invalid_argument(slices.reason());
    return {{in[0].type, slices.shape}};
}

RILL_INLINE std::vector<endpoint> gather_op::gradient(const gradient_request& r) const {
    return {r.add<gather_op>(gather_grad_op{axis}, {r.gradient(), r.input(1), r.input(0)}), {}};
}

}} // namespace rill::RILL_ABI
#endif
