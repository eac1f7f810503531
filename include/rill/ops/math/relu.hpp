// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// max(x, 0). Shape: that of x. Gradient: g where x > 0, else 0.
struct relu_op {
    static constexpr auto name = "Relu";
    static constexpr int cost = 1;
    using domain_type = domains::real;
    using compiled_types = types::common;
    template <class V> RILL_FN static auto value(const V& x) { return max(x, V(0)); }
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) { return select(y > V(0), g, V(0)); }
};

template <elementwise_operand X> RILL_FRONT auto relu(const X& x) { return apply<relu_op>(x); }

}} // namespace rill::RILL_ABI
