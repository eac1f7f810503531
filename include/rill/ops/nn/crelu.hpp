// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/concat.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/relu.hpp>

namespace rill { inline namespace RILL_ABI {

/// relu of x and of -x side by side (Shang et al. 2016): twice the channels, the last axis.
template <graph_operand X> auto crelu(const X& x, const std::source_location& where = std::source_location::current()) {
    const auto all = sealed(x); // read twice
    return concat<-1>(relu(all), relu(-all), where);
}

}} // namespace rill::RILL_ABI
