// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/scatter_nd.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/array/tensor_scatter_update.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns ids as rows of indices. With rank 0 or 1, each number is a row.
template <class Ids> auto index_rows(const Ids& ids, const std::source_location& where) {
    static_assert(are_ids<Ids>, "sparse_to_dense: the ids must be int or std::int64_t");
    if constexpr (!graph_operand<Ids>)
        return index_rows(ids_operand(ids, where), where);
    else if constexpr (typed_operand<Ids>) {
        static_assert(extents_of<Ids>::rank <= 2, "sparse_to_dense: the ids have two axes at most");
        if constexpr (extents_of<Ids>::rank == 2)
            return sealed(ids);
        else if constexpr (extents_of<Ids>::rank == 1)
            return expand_dims<1>(ids, where);
        else
            return reshape<1, 1>(ids, where);
    } else {
        const int rank = rank_of(ids);
        if (rank < 0 || rank > 2)
            throw invalid_argument("sparse_to_dense: ids of rank 0, 1 or 2 are expected" + at_place(where));
        return rank == 2 ? any_tensor(ids) : reshape(ids, dims{dyn, 1}, where);
    }
}

/// Returns a value for each row of ids. A vector stays as it is; a single value is repeated.
template <class V, class Rows>
auto values_of_rows(const V& values, const Rows& rows, const std::source_location& where) {
    const auto repeated = [&] {
        return broadcast_to(values, slice<1>(rill::shape<std::int64_t>(rows, where), {0}, where), where);
    };
    if constexpr (!typed_operand<V>)
        return rank_of(values) == 0 ? any_tensor(repeated()) : any_tensor(values);
    else if constexpr (extents_of<V>::rank == 0)
        return repeated();
    else
        return sealed(values);
}

} // namespace detail

/// Returns a tensor with values at ids, and the value `otherwise` elsewhere: sparse_to_dense(ids, dims{5, 4}, values, otherwise). Ids are a
/// number, a vector, or rows of indices [n, r]. Values are [n], or one number for all. If an id occurs twice, the last value is kept. The
/// shape is dims or a tensor. Gradient: for the values, g at the ids; for a tensor `otherwise`, the sum of the rest.
template <ids_argument Ids = braced_rows, class S, graph_operand V, class O>
    requires((graph_operand<S> || std::same_as<S, dims>) && (graph_operand<O> || literal<O>))
auto sparse_to_dense(const Ids& ids, const S& shape, const V& values, const O& otherwise,
                     const std::source_location& where = std::source_location::current()) {
    if constexpr (literal<O>) {
        static_assert(typed_operand<V>, "sparse_to_dense: beside values of unknown type, `otherwise` must be a tensor");
        return sparse_to_dense(ids, shape, values,
                               constant(literal_value<value_type_of<V>>(otherwise, "sparse_to_dense"), where), where);
    } else {
        const auto rows = detail::index_rows(ids, where);
        return tensor_scatter_update(broadcast_to(otherwise, shape, where), rows,
                                     detail::values_of_rows(values, rows, where), where);
    }
}
/// Returns a tensor with values at ids, and zeros elsewhere.
template <ids_argument Ids = braced_rows, class S, graph_operand V>
    requires(graph_operand<S> || std::same_as<S, dims>)
auto sparse_to_dense(const Ids& ids, const S& shape, const V& values,
                     const std::source_location& where = std::source_location::current()) {
    return sparse_to_dense(ids, shape, values, detail::zero_of(values, where), where);
}

}} // namespace rill::RILL_ABI
