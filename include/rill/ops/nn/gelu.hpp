// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/erfc.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// Computes x times the normal cumulative distribution at x: x (1 + erf(x / sqrt(2))) / 2. Shape: that of x. Gradient:
/// g times (that distribution + x times the normal density).
struct gelu_op {
    static constexpr auto name = "Gelu";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class V> RILL_FN static auto value(const V& x) { return x * share(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        return g * (share(x) + x * (V(0.39894228040143267794) * exp(V(-0.5) * (x * x))));
    }

private:
    template <class V> RILL_FN static auto share(const V& x) {
        return V(0.5) * erfc(x * V(-0.70710678118654752440)); // exact far below 0, where 1 + erf is not
    }
};

template <elementwise_operand X, class... None>
    requires nothing_more<None...>
RILL_FRONT auto gelu(const X& x, const None&...) {
    return apply<gelu_op>(x);
}

}} // namespace rill::RILL_ABI
