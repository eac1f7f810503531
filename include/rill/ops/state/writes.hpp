// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/variable.hpp>

// Writes through any handle of a variable, for example of a graph that was read from a file. A typed variable has them as members.

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns a value as a tensor for a write to v. A number fills a tensor of the variable's type; flat data takes its shape.
template <class E>
any_tensor value_to_write(const any_tensor& v, const E& value, const char* op, const std::source_location& where) {
    check_is_variable(v, op, where);
    if constexpr (graph_operand<E>)
        if (is_null(value)) refuse_null(op, where);
    if constexpr (literal<E>) {
        any_array all;
        visit_dtype(v.dtype(), [&]<class T>(std::type_identity<T>) {
            if constexpr (literal_fits<T, E>)
                all = filled_array<T>(v.static_shape(), literal_value<T>(value, op), where);
        });
        if (all.empty()) literal_scalar(v.dtype(), value, op); // throws with the reason
        const graph_scope here(v.graph());
        return constant_node(std::move(all), where);
    } else if constexpr (host_data<E>) {
        any_array all;
        if constexpr (std::is_same_v<E, any_array>)
            all = owned_copy(value);
        else
            all = host_value_for_variable<host_element<E>>(v.node()->name, value, v.static_shape(), where);
        check_array(v.node()->name, all.type(), type_of(v.end()), where);
        const graph_scope here(v.graph());
        return constant_node(std::move(all), where);
    } else {
        return any_tensor(seal(value, v.graph()));
    }
}

/// Adds a write of an op's result on the variable and an operand.
template <class Op, class E>
any_tensor joined_any(const any_tensor& v, const E& value, const char* op, const std::source_location& where) {
    require_for_untyped<typename Op::joins, 2>();
    const any_tensor operand = value_to_write(v, value, op, where);
    if (v.dtype() != operand.dtype())
        refuse_untyped(op, "the dtypes differ; convert with cast<T>()", {v.end(), operand.end()});
    auto made = joined_write(info_of<typename Op::joins>, v.end(), operand.end());
    return any_tensor(endpoint{
        add_node(v.graph(), make_op(Op{{std::move(made.spec)}}), std::move(made.inputs), {}, false, where), 0});
}

template <class Op, class Ids>
any_tensor scatter_any(const any_tensor& v, const Ids& ids, const any_tensor& updates, const char* op,
                       const std::source_location& where) {
    static_assert(are_ids<Ids>, "scatter: the ids must be int or std::int64_t");
    check_is_variable(v, op, where);
    return apply_node(Op{}, where, v, any_tensor(ids_beside(v, ids, where)), updates);
}

} // namespace detail

/// Writes a value to a variable: assign(v, value), with v any handle of a variable. Throws invalid_argument for another tensor. The value
/// is a tensor of any kind, an expression, a host array, or a number that fills the variable.
template <writable E>
any_tensor assign(const any_tensor& v, const E& value,
                  const std::source_location& where = std::source_location::current()) {
    require_kernel<assign_op, void>();
    const any_tensor written = detail::value_to_write(v, value, "assign", where);
    return any_tensor(
        endpoint{detail::add_node(v.graph(), make_op(assign_op{}), {v.end(), written.end()}, {}, false, where), 0});
}
template <writable E>
any_tensor assign_add(const any_tensor& v, const E& value,
                      const std::source_location& where = std::source_location::current()) {
    return detail::joined_any<assign_add_op>(v, value, "assign_add", where);
}
template <writable E>
any_tensor assign_sub(const any_tensor& v, const E& value,
                      const std::source_location& where = std::source_location::current()) {
    return detail::joined_any<assign_sub_op>(v, value, "assign_sub", where);
}

/// Adds to slices along the first axis: scatter_add(v, ids, rows), with v any handle of a variable.
template <ids_argument Ids = std::vector<int>, graph_operand Updates>
any_tensor scatter_add(const any_tensor& v, const Ids& ids, const Updates& updates,
                       const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_add_op>(v, ids, updates, "scatter_add", where);
}
template <ids_argument Ids = std::vector<int>, graph_operand Updates>
any_tensor scatter_sub(const any_tensor& v, const Ids& ids, const Updates& updates,
                       const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_sub_op>(v, ids, updates, "scatter_sub", where);
}
/// Replaces slices. If an id occurs twice, the last slice stays.
template <ids_argument Ids = std::vector<int>, graph_operand Updates>
any_tensor scatter_update(const any_tensor& v, const Ids& ids, const Updates& updates,
                          const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_update_op>(v, ids, updates, "scatter_update", where);
}
/// Multiplies the slices that ids select. Further overloads divide them, or take the minimum or maximum.
template <ids_argument Ids = std::vector<int>, graph_operand Updates>
any_tensor scatter_mul(const any_tensor& v, const Ids& ids, const Updates& updates,
                       const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_mul_op>(v, ids, updates, "scatter_mul", where);
}
template <ids_argument Ids = std::vector<int>, graph_operand Updates>
any_tensor scatter_div(const any_tensor& v, const Ids& ids, const Updates& updates,
                       const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_div_op>(v, ids, updates, "scatter_div", where);
}
template <ids_argument Ids = std::vector<int>, graph_operand Updates>
any_tensor scatter_min(const any_tensor& v, const Ids& ids, const Updates& updates,
                       const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_min_op>(v, ids, updates, "scatter_min", where);
}
template <ids_argument Ids = std::vector<int>, graph_operand Updates>
any_tensor scatter_max(const any_tensor& v, const Ids& ids, const Updates& updates,
                       const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_max_op>(v, ids, updates, "scatter_max", where);
}
/// Adds to slices selected by rows of indices along the first axes. The ids are [.., r]; the updates have the shape of gather_nd(v, ids).
template <ids_argument Ids = braced_rows, graph_operand Updates>
any_tensor scatter_nd_add(const any_tensor& v, const Ids& ids, const Updates& updates,
                          const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_nd_add_op>(v, ids, updates, "scatter_nd_add", where);
}
template <ids_argument Ids = braced_rows, graph_operand Updates>
any_tensor scatter_nd_sub(const any_tensor& v, const Ids& ids, const Updates& updates,
                          const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_nd_sub_op>(v, ids, updates, "scatter_nd_sub", where);
}
template <ids_argument Ids = braced_rows, graph_operand Updates>
any_tensor scatter_nd_update(const any_tensor& v, const Ids& ids, const Updates& updates,
                             const std::source_location& where = std::source_location::current()) {
    return detail::scatter_any<scatter_nd_update_op>(v, ids, updates, "scatter_nd_update", where);
}

}} // namespace rill::RILL_ABI
