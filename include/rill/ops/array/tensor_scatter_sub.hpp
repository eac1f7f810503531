// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/fused_op.hpp>
#include <rill/ops/array/tensor_scatter.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/state/scatter_sub.hpp>

namespace rill { inline namespace RILL_ABI {

struct gather_nd_op;

/// Subtracts slices from a tensor at rows of indices. A row that occurs twice subtracts twice. Gradient: g for the tensor, and the negated
/// gathered slices of g. An index out of range is invalid_argument.
struct tensor_scatter_sub_op : detail::tensor_scatter<detail::scatter_sub_step> {
    static constexpr auto name = "TensorScatterSub";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<gather_nd_op, neg_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

/// Subtracts slices: tensor_scatter_sub(x, ids, updates). The updates have the shape of gather_nd(x, ids).
template <graph_operand X, ids_argument Ids = braced_rows, graph_operand Updates>
auto tensor_scatter_sub(const X& x, const Ids& ids, const Updates& updates,
                        const std::source_location& where = std::source_location::current()) {
    return detail::add_tensor_scatter(tensor_scatter_sub_op{}, x, ids, updates, where);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/array/gather_nd.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> tensor_scatter_sub_op::gradient(const gradient_request& r) const {
    const endpoint slices = r.add<tensor_scatter_sub_op>(gather_nd_op{}, {r.gradient(), r.input(1)});
    return {r.gradient(), {}, detail::apply_to_edges<neg_op>(slices)};
}

}} // namespace rill::RILL_ABI
#endif
