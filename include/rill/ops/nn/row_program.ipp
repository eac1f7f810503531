// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/row_program.hpp>

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
