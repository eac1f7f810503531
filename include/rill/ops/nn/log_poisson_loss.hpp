// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes the loss of counts from a Poisson distribution with the rate e^x: e^x - x z. It omits the term that does not depend on the
/// prediction x. Shape: both broadcast. An expression.
template <graph_operand A, graph_operand B> auto log_poisson_loss(const A& targets, const B& log_input) {
    return exp(log_input) - log_input * targets;
}

}} // namespace rill::RILL_ABI
