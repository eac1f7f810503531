// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inverse hyperbolic tangent. Real numbers outside [-1, 1] give NaN. Shape: that of x. Gradient: g / conj(1 - x^2).
struct atanh_op {
    static constexpr auto name = "Atanh";
    using domain_type = domains::floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return std::atanh(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        return g / conj((V(1) - x) * (V(1) + x));
    }
};

template <elementwise_operand X> RILL_FRONT auto atanh(const X& x) { return apply<atanh_op>(x); }

}} // namespace rill::RILL_ABI
