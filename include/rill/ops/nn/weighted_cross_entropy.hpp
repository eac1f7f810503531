// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/nn/softplus.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes the sigmoid cross entropy of logits x and labels z, with a weight for positive labels: (1 - z) x + (1 + (weight - 1) z) log(1 +
/// e^-x). Shape: both broadcast. An expression.
template <graph_operand A, graph_operand B, class W>
    requires(graph_operand<W> || std::is_arithmetic_v<W>)
auto weighted_cross_entropy(const A& logits, const B& labels, const W& weight) {
    return (1 - labels) * logits + (1 + (weight - 1) * labels) * softplus(-logits);
}

}} // namespace rill::RILL_ABI
