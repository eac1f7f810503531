// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/square.hpp>

namespace rill { inline namespace RILL_ABI {

/// l2_normalize<1>(x): x over the root of its sum of squares along the axes, which counts as `epsilon` at least. Shape: that of x.
template <int... Axes, graph_operand X>
auto l2_normalize(const X& x, double epsilon = 1e-12,
                  const std::source_location& where = std::source_location::current()) {
    const auto all = sealed(x); // read twice
    return all * rsqrt(maximum(reduce_sum<Axes...>(square(all), keep_dims, where), epsilon));
}

}} // namespace rill::RILL_ABI
