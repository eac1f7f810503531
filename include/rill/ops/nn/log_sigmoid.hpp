// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/neg.hpp>
#include <rill/ops/nn/softplus.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes log(sigmoid(x)) as the expression -softplus(-x), without overflow. Shape: that of x. Gradient: g
/// sigmoid(-x).
template <graph_operand X> auto log_sigmoid(const X& x) { return -softplus(-x); }

}} // namespace rill::RILL_ABI
