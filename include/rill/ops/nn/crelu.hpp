// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/concat.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/relu.hpp>

namespace rill { inline namespace RILL_ABI {

/// Concatenates relu(x) and relu(-x) along the last axis (Shang et al. 2016). The result has twice the channels.
template <graph_operand X> auto crelu(const X& x, const std::source_location& where = std::source_location::current()) {
    const auto all = sealed(x); // read twice
    return concat<-1>(relu(all), relu(-all), where);
}

}} // namespace rill::RILL_ABI
