// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/add_rows.hpp>
#include <rill/ops/array/add_slice.hpp>
#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/gather_grad.hpp>
#include <rill/ops/array/reshape.hpp>

// The gradient of a tensor that is read by ids or ranges is a list of row and slice updates. It stays so until an op
// needs the dense tensor.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A sparse gradient of a table: slices along its first axis, and the ids of their rows. Slices of the same row are added.
struct gradient_rows {
    endpoint slices, ids;
    endpoint table; // its values are not read

    explicit operator bool() const { return bool(slices); }
    /// Returns the gradient as an endpoint, from which rows_of recovers the rows.
    endpoint whole() const;
    /// Returns the rows with ids of rank 1.
    gradient_rows flat() const;
    bool has_wide_ids() const { return type_of(ids).type == dtype::int64; }
    /// Returns the ids as int64.
    endpoint wide_ids() const;
};

/// Returns true if a gradient consists only of row updates, from any number of look-ups (gather along the first axis).
bool is_rows(const endpoint& gradient);

/// Returns the rows of such a gradient: the ids and slices of all look-ups, concatenated. Returns null rows for other
/// gradients.
gradient_rows rows_of(const endpoint& gradient);

/// Returns the same gradient, with the rows of several look-ups merged into one.
endpoint with_joined_rows(const endpoint& gradient);

/// Returns the sum of gradients of one tensor. Row and slice updates are added in place, one after the other. The cost of n updates is
/// proportional to their elements. A sum of updates alone stays a list of updates.
endpoint sum_of_gradients(const std::vector<endpoint>& terms);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/ops/math/add_n.hpp>
#include <rill/ops/math/cast.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A row or slice update that is part of a gradient.
struct gradient_part {
    op_ptr add;           // the op that adds the part to its first input
    endpoint_list values; // the inputs after the first
    endpoint table;       // set for the first part, which is added to zeros
};

/// Returns the struct of a node's op, or null if the op is not an Op.
template <class Op> const Op* op_of(const op& o) {
    return o.struct_name() == type_name<Op>() ? static_cast<const Op*>(o.attributes()) : nullptr;
}

/// Returns the row and slice updates that make up the gradient. Returns none if any other op contributes.
inline std::vector<gradient_part> parts_in(endpoint e) {
    std::vector<gradient_part> parts;
    for (;; e = e.from->inputs[0]) {
        const node& n = *e.from;
        if (!op_of<add_rows_op>(*n.op) && !op_of<add_slice_op>(*n.op)) break;
        parts.push_back({n.op, std::span(n.inputs.begin() + 1, n.inputs.end()), {}});
    }
    const auto& in = e.from->inputs;
    if (const auto* rows = op_of<gather_grad_op>(*e.from->op))
        parts.push_back({make_op(add_rows_op{rows->axis}), {in[1], in[0]}, in[2]});
    else if (const auto* range = op_of<strided_slice_grad_op>(*e.from->op))
        parts.push_back({make_op(add_slice_op{range->ranges}), {in[0]}, in[1]});
    else if (op_of<slice_grad_op>(*e.from->op))
        parts.push_back({make_op(add_slice_op{}), {in[0], in[2]}, in[1]});
    else
        parts.clear();
    std::reverse(parts.begin(), parts.end());
    return parts;
}

/// Returns the row updates that make up the gradient. Returns none if any other update contributes.
inline std::vector<gradient_rows> all_rows(const endpoint& gradient) {
    const dims& table = type_of(gradient).shape;
    std::vector<gradient_rows> all;
    if (table.rank < 1 || !rules::slice(table).complete() || rules::slice(table).size() == 0) return all;
    for (const auto& p : parts_in(gradient)) {
        const auto* rows = op_of<add_rows_op>(*p.add);
        if (!rows || rules::normal_axis(rows->axis, table.rank) != 0) return {};
        all.push_back({p.values[1], p.values[0], all.empty() ? p.table : all[0].table});
    }
    return all;
}

RILL_INLINE bool is_rows(const endpoint& gradient) { return !all_rows(gradient).empty(); }

inline endpoint add_part_node(op_ptr op, endpoint_list inputs) {
    const graph g(*inputs[0].from->owner);
    return {add_node(g, std::move(op), std::move(inputs)), 0};
}

RILL_INLINE endpoint gradient_rows::whole() const {
    return add_part_node(make_op(gather_grad_op{}), {slices, ids, table});
}

RILL_INLINE gradient_rows gradient_rows::flat() const {
    const dims& shape = type_of(ids).shape;
    if (shape.rank == 1) return *this;
    const index_t count = shape.complete() ? shape.size() : dyn;
    const dims rows = rules::gather(type_of(table).shape, dims{count}, 0).shape;
    return {add_part_node(make_op(reshape_op{rows}), {slices}), add_part_node(make_op(reshape_op{dims{count}}), {ids}),
            table};
}

RILL_INLINE endpoint gradient_rows::wide_ids() const {
    if (has_wide_ids()) return ids;
    return apply_untyped(info_of<cast_op<std::int64_t>>, dtype::int64, {{ids}, {}, {0}}, graph(*ids.from->owner));
}

RILL_INLINE gradient_rows rows_of(const endpoint& gradient) {
    const auto all = all_rows(gradient);
    if (all.size() < 2) return all.empty() ? gradient_rows() : all[0];
    const bool wide = detail::any_of(all, [](const auto& r) { return r.has_wide_ids(); });
    endpoint_list slices, ids;
    for (const auto& r : all) {
        const auto flat = r.flat();
        slices.push_back(flat.slices);
        ids.push_back(wide ? flat.wide_ids() : flat.ids);
    }
    return {add_part_node(make_op(concat_op{0}), std::move(slices)),
            add_part_node(make_op(concat_op{0}), std::move(ids)), all[0].table};
}

RILL_INLINE endpoint with_joined_rows(const endpoint& gradient) {
    return all_rows(gradient).size() < 2 ? gradient : rows_of(gradient).whole();
}

RILL_INLINE endpoint sum_of_gradients(const std::vector<endpoint>& terms) {
    std::vector<endpoint> whole;
    endpoint sum; // the dense terms, or the term with most updates; the others are added to it
    std::vector<gradient_part> of_sum, others;
    for (const auto& e : terms) {
        auto parts = parts_in(e);
        if (parts.empty()) {
            whole.push_back(e);
            continue;
        }
        if (parts.size() > of_sum.size()) {
            std::swap(parts, of_sum);
            sum = e;
        }
        others.insert(others.end(), parts.begin(), parts.end());
    }
    if (!whole.empty()) {
        sum = add_n(whole);
        others.insert(others.end(), of_sum.begin(), of_sum.end());
    }
    for (const auto& p : others) {
        endpoint_list inputs{sum};
        inputs.append(p.values);
        sum = add_part_node(p.add, std::move(inputs));
    }
    return sum;
}

}}} // namespace rill::RILL_ABI::detail
#endif
