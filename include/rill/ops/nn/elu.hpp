// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/expm1.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes x where x >= 0, else e^x - 1. Shape: that of x. Gradient: g, or g (y + 1) where y < 0.
struct elu_op {
    static constexpr auto name = "Elu";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class V> RILL_FN static auto value(const V& x) { return select(x < V(0), expm1(x), x); }
    template <class V> RILL_FN static auto pullback(const V& y, const V& g) {
        return select(y < V(0), g * (y + V(1)), g);
    }
};

template <elementwise_operand X, class... None>
    requires nothing_more<None...>
RILL_FRONT auto elu(const X& x, const None&...) {
    return apply<elu_op>(x);
}

}} // namespace rill::RILL_ABI
