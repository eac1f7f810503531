// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/fused_op.hpp>
#include <rill/ops/array/nd_indices.hpp>

namespace rill { inline namespace RILL_ABI {

struct tensor_scatter_add_op;

/// Gathers slices of a tensor by rows of indices along its first axes. The shape of the ids without its last axis replaces these axes.
/// Gradient for the tensor: g, added up at the ids. An index out of range is invalid_argument.
struct gather_nd_op {
    static constexpr auto name = "GatherNd";
    static constexpr int inputs = 2, reads_slices_of = 0;
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<tensor_scatter_add_op>;
    static constexpr int colocated_input = 0; // sends the slices, not the tensor, between devices

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
    op_cost cost(std::span<const tensor_type>, std::span<const tensor_type> out) const {
        return detail::cost_of_slices(out[0]);
    }

    template <class D, class T> kernel bind(kernel_request& request) const {
        const detail::nd_indices rows(request.inputs[0].shape, request.inputs[1].shape);
        request.scratch_bytes = D::gather_rows_scratch(rows.count);
        return detail::with_index_type(request.inputs[1].type, [&]<class I>(std::type_identity<I>) {
            return kernel([=](const kernel_args& a) {
                D::gather_rows(a.on, a.in<T>(0), a.in<I>(1), a.out<T>(0), rows.count, rows.shape, rows.inner,
                               *rows.where);
            });
        });
    }
};

/// Gathers slices: gather_nd(x, ids) with ids [.., r] gives x(ids(.., 0), …, ids(.., r - 1)). Ids are int or
/// std::int64_t.
template <graph_operand X, ids_argument Ids>
auto gather_nd(const X& x, const Ids& ids, const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<Ids>, "gather_nd: the ids must be int or std::int64_t");
    const auto& at = detail::ids_operand(ids, where);
    using I = std::remove_cvref_t<decltype(at)>;
    if constexpr (typed_operand<X> && typed_operand<I>)
        static_assert(ids_choose_slices<extents_of<X>, extents_of<I>>,
                      "gather_nd: the last axis of the ids must hold an index for some of the tensor's axes");
    constexpr auto rule = [](const dims& t, const dims& i) { return rules::gather_nd(t, i); };
    return apply_node(gather_nd_op{}, rule, where, x, at);
}
/// Gathers slices by host values: gather_nd(x, {1, 2}) is x(1, 2), and gather_nd(x, {{1, 2}, {0, 1}}) has an element for each row.
template <graph_operand X, host_integer I, std::size_t R>
auto gather_nd(const X& x, const I (&row)[R], const std::source_location& where = std::source_location::current()) {
    return gather_nd(x, constant(row, where), where);
}
template <graph_operand X, host_integer I, std::size_t N, std::size_t R>
auto gather_nd(const X& x, const I (&rows)[N][R], const std::source_location& where = std::source_location::current()) {
    return gather_nd(x, constant(rows, where), where);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/array/tensor_scatter_add.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> gather_nd_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the ids");
    const auto slices = rules::gather_nd(in[0].shape, in[1].shape);
    if (!slices.ok()) throw invalid_argument(slices.reason());
    return {{in[0].type, slices.shape}};
}

RILL_INLINE std::vector<endpoint> gather_nd_op::gradient(const gradient_request& r) const {
    return {
        r.add<gather_nd_op>(tensor_scatter_add_op{}, {detail::filled_like(r.input(0), 0), r.input(1), r.gradient()}),
        {}};
}

}} // namespace rill::RILL_ABI
#endif
