// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>

// What the gradients of softmax and of cross-entropies are made of: elementwise programs over rows, beside numbers that
// belong to a row each, built when the types are known at run time only.

namespace rill::inline RILL_ABI::detail {

/// An operand of a row program: elements of rows [..., n], or one number for each row [...].
struct row_operand {
    endpoint from;
    bool per_row = false;
};
inline row_operand each_row(const endpoint& e) { return {e, true}; }

/// A fused node that runs build(tracer) over its operands (leaves 0, 1, …), and maybe sums each row.
template <class Build> endpoint row_program(const std::vector<row_operand>& operands, bool sum_rows, Build build) {
    const reduction over_rows{combine::sum, axis_list{-1}, false};
    fused_spec spec;
    std::vector<dtype> types;
    std::vector<endpoint> inputs;
    for (const auto& o : operands) {
        types.push_back(type_of(o.from).type);
        std::size_t at = 0; // an operand that occurs twice is one input
        while (at < inputs.size() && !(inputs[at] == o.from)) ++at;
        if (at == inputs.size()) inputs.push_back(o.from);
        spec.leaves.push_back({static_cast<int>(at), o.per_row ? over_rows : reduction{}});
    }
    tracer t(std::move(types), {});
    program body = *t.finish({build(t)});
    spec.kind = fused_spec::form::program;
    if (body.code.size() == 1 && body.scalars.empty() && body.code[0].args.size() == operands.size()) {
        body.key = instruction_key(body, body.code[0]); // one op over its leaves in order: found compiled
        spec.kind = fused_spec::form::forward;
    }
    spec.body = std::make_shared<const program>(std::move(body));
    spec.scalars = t.scalars();
    spec.results.resize(1);
    if (sum_rows) spec.results[0].reduce = over_rows;
    return {add_node(graph(*inputs[0].from->owner), make_op(fused_op{std::move(spec)}), inputs), 0};
}

/// Shorthands for instructions on leaves of one type.
int row_op(tracer& t, std::string_view op, std::vector<int> args);

/// a * b
endpoint row_product(const row_operand& a, const row_operand& b);
/// The sum of a * b over each row.
endpoint row_dot(const endpoint& a, const endpoint& b);
endpoint row_sum(const endpoint& a);
/// The sum of two gradients, either of which may be missing.
inline endpoint sum_of(const endpoint& a, const endpoint& b) { return !a ? b : !b ? a : add_n({a, b}); }

/// The kernels that such programs and their derivatives need.
template <class T> void require_row_programs() {
    require_fused();
    require_primitive<mul_op, T, T>();
    require_primitive<add_op, T, T>();
    require_primitive<sub_op, T, T>();
    require_primitive<neg_op, T>();
    require_combiner<combine::sum, T>();
}

/// Calls f with the operand's element type, or with those that stand for unknown ones.
template <class X, class F> void for_floating_types_of(F f) {
    if constexpr (!typed_operand<X>) {
        f(std::type_identity<float>{});
        f(std::type_identity<double>{});
    } else if constexpr (is_real_floating<value_type_of<X>>) {
        f(std::type_identity<value_type_of<X>>{});
    }
}

/// A matrix of rows: all axes but the last one count them.
struct row_view {
    index_t rows = 1, columns = 1;

    explicit row_view(const dims& shape);
};

} // namespace rill::inline RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/ops/nn/row_program.ipp>
#endif
