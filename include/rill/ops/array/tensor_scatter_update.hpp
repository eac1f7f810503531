// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/fused_op.hpp>
#include <rill/ops/array/tensor_scatter.hpp>
#include <rill/ops/state/scatter_update.hpp>

namespace rill { inline namespace RILL_ABI {

struct gather_nd_op;

/// Replaces slices of a tensor at rows of indices. If a row occurs twice, the last slice is kept. Gradient: g with zeros at the slices, and
/// the gathered slices of g. An index out of range is invalid_argument.
struct tensor_scatter_update_op : detail::tensor_scatter<detail::scatter_update_step> {
    static constexpr auto name = "TensorScatterUpdate";
    using domain_type = domains::every;
    using compiled_types = types::moved;
    using brings = op_list<gather_nd_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

/// Replaces slices: tensor_scatter_update(x, ids, updates). The updates have the shape of gather_nd(x, ids).
template <graph_operand X, ids_argument Ids = braced_rows, graph_operand Updates>
auto tensor_scatter_update(const X& x, const Ids& ids, const Updates& updates,
                           const std::source_location& where = std::source_location::current()) {
    return detail::add_tensor_scatter(tensor_scatter_update_op{}, x, ids, updates, where);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/array/gather_nd.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> tensor_scatter_update_op::gradient(const gradient_request& r) const {
    const endpoint kept = r.add<tensor_scatter_update_op>(
        tensor_scatter_update_op{}, {r.gradient(), r.input(1), detail::filled_like(r.input(2), 0)});
    return {kept, {}, r.add<tensor_scatter_update_op>(gather_nd_op{}, {r.gradient(), r.input(1)})};
}

}} // namespace rill::RILL_ABI
#endif
