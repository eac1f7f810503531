// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes min(max(x, 0), 6). Shape: that of x. Gradient: g where 0 < x < 6, else 0.
struct relu6_op {
    static constexpr auto name = "Relu6";
    using domain_type = domains::real;
    using compiled_types = types::common;
    static constexpr int cost = 2;
    template <class V> RILL_FN static auto value(const V& x) { return min(max(x, V(0)), V(6)); }
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) {
        return select(y > V(0), select(y < V(6), g, V(0)), V(0));
    }
};

template <elementwise_operand X> RILL_FRONT auto relu6(const X& x) { return apply<relu6_op>(x); }

}} // namespace rill::RILL_ABI
