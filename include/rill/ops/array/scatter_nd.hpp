// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/tensor_scatter_add.hpp>

namespace rill { inline namespace RILL_ABI {

/// Adds slices to zeros at rows of indices: scatter_nd<4, 3>(ids, updates). A row that occurs twice adds twice. The updates have the shape
/// of gather_nd of the result. Gradient for the updates: gather_nd of g.
template <index_t... D, ids_argument Ids = braced_rows, graph_operand Updates>
    requires(sizeof...(D) > 0)
auto scatter_nd(const Ids& ids, const Updates& updates,
                const std::source_location& where = std::source_location::current()) {
    return tensor_scatter_add(broadcast_to<D...>(detail::zero_of(updates, where), where), ids, updates, where);
}
/// Scatters into a shape known only at run time: dims, or an integer tensor.
template <ids_argument Ids = braced_rows, graph_operand Updates, class S>
    requires(graph_operand<S> || std::same_as<S, dims>)
auto scatter_nd(const Ids& ids, const Updates& updates, const S& shape,
                const std::source_location& where = std::source_location::current()) {
    return tensor_scatter_add(broadcast_to(detail::zero_of(updates, where), shape, where), ids, updates, where);
}

}} // namespace rill::RILL_ABI
