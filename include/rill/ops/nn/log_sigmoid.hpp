// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/neg.hpp>
#include <rill/ops/nn/softplus.hpp>

namespace rill { inline namespace RILL_ABI {

/// log(sigmoid(x)), free of overflow: -softplus(-x), as one expression. Shape: that of x. Gradient: g sigmoid(-x).
template <graph_operand X> auto log_sigmoid(const X& x) { return -softplus(-x); }

}} // namespace rill::RILL_ABI
