// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/fused_op.hpp>
#include <rill/ops/array/tensor_scatter.hpp>
#include <rill/ops/state/scatter_add.hpp>

namespace rill { inline namespace RILL_ABI {

struct gather_nd_op;

/// Adds slices to a tensor at rows of indices. A row that occurs twice adds twice. Gradient: g for the tensor, and the gathered slices of
/// g. An index out of range is invalid_argument.
struct tensor_scatter_add_op : detail::tensor_scatter<detail::scatter_add_step> {
    static constexpr auto name = "TensorScatterAdd";
    using domain_type = domains::numeric;
    using compiled_types = types::numbers;
    using brings = op_list<gather_nd_op>;

    std::vector<endpoint> gradient(const gradient_request& r) const;
};

/// Adds slices: tensor_scatter_add(x, ids, updates). The updates have the shape of gather_nd(x, ids).
template <graph_operand X, ids_argument Ids = braced_rows, graph_operand Updates>
auto tensor_scatter_add(const X& x, const Ids& ids, const Updates& updates,
                        const std::source_location& where = std::source_location::current()) {
    return detail::add_tensor_scatter(tensor_scatter_add_op{}, x, ids, updates, where);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/array/gather_nd.hpp> // its gradient, as this is the gradient of that

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<endpoint> tensor_scatter_add_op::gradient(const gradient_request& r) const {
    return {r.gradient(), {}, r.add<tensor_scatter_add_op>(gather_nd_op{}, {r.gradient(), r.input(1)})};
}

}} // namespace rill::RILL_ABI
#endif
