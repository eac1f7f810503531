// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/expm1.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes scale x where x >= 0, else scale alpha (e^x - 1). It preserves mean 0 and variance 1 (scale is 1.0507…,
/// alpha 1.6732…). Shape: that of x. Gradient: g scale, or g (y + scale alpha) where y < 0.
struct selu_op {
    static constexpr auto name = "Selu";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr double scale = 1.0507009873554804934193349852946, alpha = 1.6732632423543772848170429916717;
    template <class V> RILL_FN static auto value(const V& x) {
        return select(x < V(0), V(scale * alpha) * expm1(x), V(scale) * x);
    }
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) {
        return select(y < V(0), g * (y + V(scale * alpha)), g * V(scale));
    }
};

template <elementwise_operand X, class... None>
    requires nothing_more<None...>
RILL_FRONT auto selu(const X& x, const None&...) {
    return apply<selu_op>(x);
}

}} // namespace rill::RILL_ABI
