// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns f(x) where the condition holds, else `otherwise`: apply_where(x > 0, x, [](const auto& v) { return sqrt(v); }, x). Elsewhere f
/// receives `safe` instead of x. An infinite slope there then does not make the gradient NaN, as it does in select(x > 0, sqrt(x), x).
/// Shape: condition, f(x) and `otherwise` broadcast. Gradient: that of the selected side.
template <graph_operand C, graph_operand X, class F, class B>
    requires(graph_operand<B> || literal<B>)
auto apply_where(const C& condition, const X& x, const F& f, const B& otherwise, double safe = 1) {
    return select(condition, f(select(condition, x, safe)), otherwise);
}

}} // namespace rill::RILL_ABI
