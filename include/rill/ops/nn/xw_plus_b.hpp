// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/nn/bias_add.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes matmul(x, w) + b, of [n, in], [in, out] and [out].
template <graph_operand X, graph_operand W, graph_operand B>
auto xw_plus_b(const X& x, const W& w, const B& b,
               const std::source_location& where = std::source_location::current()) {
    return bias_add(matmul(x, w, where), b, where);
}

}} // namespace rill::RILL_ABI
