// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inverse hyperbolic cosine; NaN below 1. Shape: that of x. Gradient: g / sqrt(x^2 - 1), NaN below 1.
struct acosh_op {
    static constexpr auto name = "Acosh";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class T> static T scalar(const T& x) { return std::acosh(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        return g * rsqrt(x - V(1)) * rsqrt(x + V(1)); // exact near 1, where x^2 - 1 is not; NaN below
    }
};

template <elementwise_operand X> RILL_FN auto acosh(const X& x) { return apply<acosh_op>(x); }

}} // namespace rill::RILL_ABI
