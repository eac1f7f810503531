// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce_variance.hpp>
#include <rill/ops/math/sqrt.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the standard deviation over axes as an expression: sqrt(reduce_variance<Axes...>(x)). Without a list, all axes are reduced.
template <int... Axes, graph_operand X>
auto reduce_std(const X& x, const std::source_location& where = std::source_location::current()) {
    return sqrt(reduce_variance<Axes...>(x, where));
}
template <int... Axes, graph_operand X>
auto reduce_std(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return sqrt(reduce_variance<Axes...>(x, keep_dims, where));
}

}} // namespace rill::RILL_ABI
