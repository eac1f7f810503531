// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/select.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes x sigmoid(x), also called swish. Shape: that of x. Gradient: g s (1 + x (1 - s)), where s is sigmoid(x).
struct silu_op {
    static constexpr auto name = "Silu";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class V> RILL_FN static auto value(const V& x) {
        const parts<V> p(x);
        return x * p.above * p.above / p.whole;
    }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        const parts<V> p(x);
        const V rest = select(x < V(0), V(1), p.below) / p.whole; // 1 - sigmoid(x)
        return g * ((V(1) + x * rest) * p.above * p.above / p.whole);
    }

private:
    /// The parts of sigmoid(x), which is above^2 / whole. e^x underflows below -88; its square root does not.
    template <class V> struct parts {
        V above, below, whole;
        RILL_FN explicit parts(const V& x)
            : above(exp(V(0.5) * select(x < V(0), x, -x))), below(above * above), whole(V(1) + below) {
            above = select(x < V(0), above, V(1));
        }
    };
};

template <elementwise_operand X, class... None>
    requires nothing_more<None...>
RILL_FRONT auto silu(const X& x, const None&...) {
    return apply<silu_op>(x);
}
/// Computes silu(x), by TensorFlow's name.
template <elementwise_operand X, class... None>
    requires nothing_more<None...>
RILL_FRONT auto swish(const X& x, const None&...) {
    return apply<silu_op>(x);
}

}} // namespace rill::RILL_ABI
