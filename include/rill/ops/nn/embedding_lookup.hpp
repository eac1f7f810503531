// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <rill/ops/array/add_rows.hpp>
#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/range.hpp>
#include <rill/ops/array/reshape_like.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/array/stack.hpp>
#include <rill/ops/array/where.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/floordiv.hpp>
#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/logical_and.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/mod.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_l2_norm.hpp>

namespace rill { inline namespace RILL_ABI {

/// Gathers the rows of a table by ids: gather along axis 0, with a gradient of rows. Shape: that of the ids, then that of the table
/// without axis 0.
template <graph_operand Table, ids_argument Ids = std::vector<int>>
auto embedding_lookup(const Table& table, const Ids& ids,
                      const std::source_location& where = std::source_location::current()) {
    return gather<0>(table, ids, where);
}

/// The distribution of ids over several tables. mod: id k is row k / n of table k % n; div: the tables follow one another.
enum class partition_strategy { mod, div };

struct embedding_options {
    partition_strategy strategy = partition_strategy::mod;
    double max_norm = 0; // longer rows are scaled to this norm; 0: no limit
};

namespace detail {

/// Returns rows of a table over its last axes, scaled to norms of at most max_norm. Norms and quotients of half and bfloat16 are
/// computed in float.
template <int RowAxes, typed_operand X>
auto bounded_rows(const X& rows, double max_norm, const std::source_location& where) {
    using result = tensor_of<value_type_of<X>, extents_of<X>>;
    const auto all = sealed(rows);
    if (!(max_norm > 0)) return all;
    const auto norms = [&]<int... I>(std::integer_sequence<int, I...>) {
        return wide_l2_norm<(-1 - I)...>(all, where, keep_dims);
    }(std::make_integer_sequence<int, RowAxes>{});
    const auto bounded = narrowed(all, widened(all) * (max_norm / maximum(norms, max_norm)));
    return result(unchecked, any_tensor(sealed(bounded)));
}

/// Returns the number of rows of each table. Throws invalid_argument if it is unknown, or if there are no tables.
std::vector<index_t> rows_of_tables(const std::vector<tensor_type>& tables, const std::source_location& where);

/// Gathers rows from several tables [rows, width] by ids [n]. For each table, it gathers the rows of its ids and puts them in place.
template <class Table, class Ids>
auto rows_of_several(const std::vector<Table>& tables, const Ids& ids, partition_strategy strategy,
                     const std::source_location& where) {
    using T = value_type_of<Table>;
    constexpr index_t width = extents_of<Table>::value[1], n = extents_of<Ids>::value[0];
    std::vector<tensor_type> types;
    for (const auto& t : tables) types.push_back(type_of(t.end()));
    const auto rows = rows_of_tables(types, where);
    const auto count = static_cast<std::int64_t>(tables.size());
    const auto shape_of_all =
        stack<0>(size<std::int64_t>(ids, where), sealed(constant(types[0].shape[1], where)), where);
    tensor<T, n, width> all(unchecked, any_tensor(fill(shape_of_all, T(0), where)));
    std::int64_t first = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        const auto& table = tables[static_cast<std::size_t>(k)];
        const std::int64_t end = first + rows[static_cast<std::size_t>(k)];
        // An id outside all tables is sent to the first or the last table, whose gather refuses it.
        const auto here = [&]() -> tensor<bool, n> {
            if (strategy == partition_strategy::mod) return equal(mod(ids, count), k);
            if (k == 0) return k + 1 == count ? tensor<bool, n>(equal(ids, ids)) : tensor<bool, n>(ids < end);
            if (k + 1 == count) return ids >= first;
            return logical_and(ids >= first, ids < end);
        }();
        const auto row = strategy == partition_strategy::mod ? tensor<std::int64_t, n>(floordiv(ids, count))
                                                             : tensor<std::int64_t, n>(ids - first);
        const auto places = squeeze<1>(rill::where(here, where), where);
        const auto chosen = gather<0>(table, gather<0>(row, places, where), where);
        all = apply_node(add_rows_op{}, shape_of_first, where, all, places, chosen);
        first = end;
    }
    return all;
}

} // namespace detail

/// True if the table has rows with at least one axis.
template <class E> inline constexpr bool has_rows = E::rank >= 2;

/// Gathers rows and scales those that are too long: embedding_lookup(table, ids, {.max_norm = 1.f}).
template <typed_operand Table, ids_argument Ids = std::vector<int>>
auto embedding_lookup(const Table& table, const Ids& ids, const embedding_options& o,
                      const std::source_location& where = std::source_location::current()) {
    static_assert(has_rows<extents_of<Table>>, "embedding_lookup: a table is [rows, width], or of a higher rank");
    return detail::bounded_rows<extents_of<Table>::rank - 1>(gather<0>(table, ids, where), o.max_norm, where);
}

/// True if the table has rows of one axis: [rows, width].
template <class E> inline constexpr bool is_embedding_table = E::rank == 2;

/// Gathers rows from several tables [rows, width]: embedding_lookup(std::vector{a, b}, ids, {.strategy = partition_strategy::div}). Shape:
/// that of the ids, then [width]. Gradients are rows of each table. Errors: an id outside the tables.
template <typed_operand Table, class Ids = std::vector<int>>
    requires(typed_operand<Ids> || host_ids<Ids>)
auto embedding_lookup(const std::vector<Table>& tables, const Ids& ids, const embedding_options& o = {},
                      const std::source_location& where = std::source_location::current()) {
    static_assert(is_embedding_table<extents_of<Table>>, "embedding_lookup: tables [rows, width] are expected");
    static_assert(are_ids<Ids>, "embedding_lookup: the ids must be int or std::int64_t");
    const auto all = sealed(cast<std::int64_t>(detail::ids_operand(ids, where)));
    const auto rows = detail::rows_of_several(tables, reshape<dyn>(all, where), o.strategy, where);
    // The shape of the ids, then the width.
    const auto shaped = gather<0>(rows, reshape_like(sealed(range(size<std::int64_t>(all, where))), all, where), where);
    return detail::bounded_rows<1>(shaped, o.max_norm, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<index_t> detail::rows_of_tables(const std::vector<tensor_type>& tables,
                                                      const std::source_location& where) {
    if (tables.empty()) throw invalid_argument("embedding_lookup: no tables were given" + at_place(where));
    std::vector<index_t> rows;
    for (const auto& t : tables) {
        const index_t n = rules::extent_along(t.shape, 0), width = rules::extent_along(t.shape, 1);
        if (n == dyn || width == dyn || width != rules::extent_along(tables[0].shape, 1))
            throw invalid_argument("embedding_lookup: tables must have known rows, and one width; " + to_string(t) +
                                   " is beside " + to_string(tables[0]) + at_place(where));
        rows.push_back(n);
    }
    return rows;
}

}} // namespace rill::RILL_ABI
#endif
