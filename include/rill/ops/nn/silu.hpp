// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sigmoid.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// x sigmoid(x), also called swish. Shape: that of x. Gradient: g s (1 + x (1 - s)), where s is sigmoid(x).
struct silu_op {
    static constexpr auto name = "Silu";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class V> RILL_FN static auto value(const V& x) { return x * sigmoid(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        const V s = sigmoid(x);
        return g * (s * (V(1) + x * (V(1) - s)));
    }
};

template <elementwise_operand X, class... None>
    requires nothing_more<None...>
RILL_FN auto silu(const X& x, const None&...) {
    return apply<silu_op>(x);
}
/// TensorFlow's name.
template <elementwise_operand X, class... None>
    requires nothing_more<None...>
RILL_FN auto swish(const X& x, const None&...) {
    return apply<silu_op>(x);
}

}} // namespace rill::RILL_ABI
