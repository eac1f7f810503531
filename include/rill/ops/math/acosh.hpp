// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inverse hyperbolic cosine. Real numbers below 1 give NaN. Shape: that of x. Gradient: g / conj(sqrt(x - 1) sqrt(x + 1)).
struct acosh_op {
    static constexpr auto name = "Acosh";
    using domain_type = domains::floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return std::acosh(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        if constexpr (is_complex<typename V::value_type>) // the root of the product may lie on the other branch
            return g * conj(rsqrt(x - V(1)) * rsqrt(x + V(1)));
        else
            return g * rsqrt(x - V(1)) * rsqrt(x + V(1)); // accurate near 1, unlike x^2 - 1; NaN below 1
    }
};

template <elementwise_operand X> RILL_FRONT auto acosh(const X& x) { return apply<acosh_op>(x); }

}} // namespace rill::RILL_ABI
