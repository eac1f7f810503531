// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/row_program.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/expr/node_op.hpp>
#include <rill/ops/math/neg.hpp>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE int row_op(tracer& t, std::string_view op, std::vector<int> args) {
    const dtype type = t.type_of(args[0]);
    return t.emit(op, type, std::move(args));
}

RILL_INLINE endpoint row_program(const std::vector<row_operand>& operands, bool sum_rows, int (*build)(tracer& t)) {
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

RILL_INLINE endpoint sum_of(const endpoint& a, const endpoint& b) { return !a ? b : !b ? a : add_n({a, b}); }

RILL_INLINE endpoint row_product(const row_operand& a, const row_operand& b) {
    return row_program({a, b}, false, [](tracer& t) { return row_op(t, "Mul", {t.leaf(0), t.leaf(1)}); });
}

RILL_INLINE endpoint row_dot(const endpoint& a, const endpoint& b) {
    return row_program({{a}, {b}}, true, [](tracer& t) { return row_op(t, "Mul", {t.leaf(0), t.leaf(1)}); });
}

RILL_INLINE endpoint row_sum(const endpoint& a) {
    return row_program({{a}}, true, [](tracer& t) { return t.leaf(0); });
}

RILL_INLINE row_view::row_view(const dims& shape) {
    for (int i = 0; i < shape.rank - 1; ++i) rows *= shape[i];
    if (shape.rank > 0) columns = shape[shape.rank - 1];
}

} // namespace rill::inline RILL_ABI::detail
