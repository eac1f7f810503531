// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/expr/node_op.hpp>
#include <rill/ops/math/add_n.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/sub.hpp>

#include <vector>

// Elementwise programs over rows and per-row numbers, for the gradients of softmax and cross-entropies. They are built
// when the types are known only at run time.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// An operand of a row program: rows [..., n], or one number for each row [...].
struct row_operand {
    endpoint from;
    bool per_row = false;
};
inline row_operand each_row(const endpoint& e) { return {e, true}; }

/// The ops that row programs use. An op whose gradient uses row programs must bring them.
using row_ops = op_list<mul_op, add_op, sub_op, neg_op, combining<combine::sum>>;

/// A tracer for the gradient of Self, restricted to ops that Self brings.
template <class Self> struct gradient_tracer {
    tracer& t;

    int leaf(int i) const { return t.leaf(i); }
    template <class Op> int emit(std::vector<int> args) const {
        static_assert(op_brings<Self, Op>, "gradient: an op that it uses must be named in the struct's `brings`");
        return t.emit<Op>(std::move(args));
    }
};

/// Returns a fused node that runs build(tracer) over its operands (leaves 0, 1, …). With `sum_rows` it also sums each
/// row.
endpoint row_node(const vector<row_operand>& operands, bool sum_rows, int (*build)(tracer& t));
template <class Self, class Build> endpoint row_program(const vector<row_operand>& operands, bool sum_rows, Build) {
    return row_node(operands, sum_rows, +[](tracer& t) { return Build()(gradient_tracer<Self>{t}); });
}

/// Returns a * b.
template <class Self> endpoint row_product(const row_operand& a, const row_operand& b) {
    return row_program<Self>({a, b}, false, [](auto t) { return t.template emit<mul_op>({t.leaf(0), t.leaf(1)}); });
}
/// Returns the sum of a * b over each row.
template <class Self> endpoint row_dot(const endpoint& a, const endpoint& b) {
    return row_program<Self>({{a}, {b}}, true, [](auto t) { return t.template emit<mul_op>({t.leaf(0), t.leaf(1)}); });
}
template <class Self> endpoint row_sum(const endpoint& a) {
    return row_program<Self>({{a}}, true, [](auto t) { return t.leaf(0); });
}
/// Returns the sum of two gradients, of which one may be missing.
endpoint sum_of(const endpoint& a, const endpoint& b);

/// A view of an array as a matrix: the last axis is the columns, all other axes are the rows.
struct row_view {
    index_t rows = 1, columns = 1;

    explicit row_view(const dims& shape);
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE endpoint row_node(const vector<row_operand>& operands, bool sum_rows, int (*build)(tracer& t)) {
    const reduction over_rows{combine::sum, axis_list{-1}, false};
    fused_spec spec;
    std::vector<dtype> types;
    endpoint_list inputs;
    for (const auto& o : operands) {
        types.push_back(type_of(o.from).type);
        spec.leaves.push_back({input_number(inputs, o.from), o.per_row ? over_rows : reduction{}});
    }
    tracer t(std::move(types), {});
    spec.body = t.finish_op(build(t));
    spec.kind = is_one_op(*spec.body) ? fused_spec::form::forward : fused_spec::form::program;
    spec.scalars = t.scalars();
    spec.results.resize(1);
    if (sum_rows) spec.results[0].reduce = over_rows;
    return {add_node(graph(*inputs[0].from->owner), make_op(fused_op{std::move(spec)}), inputs), 0};
}

RILL_INLINE endpoint sum_of(const endpoint& a, const endpoint& b) { return !a ? b : !b ? a : add_n({a, b}); }

RILL_INLINE row_view::row_view(const dims& shape) {
    for (int i = 0; i < shape.rank - 1; ++i) rows *= shape[i];
    if (shape.rank > 0) columns = shape[shape.rank - 1];
}

}}} // namespace rill::RILL_ABI::detail
#endif
