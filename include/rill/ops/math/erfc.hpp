// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>

namespace rill { inline namespace RILL_ABI {

/// 1 - erf(x), accurate where the result is small. Shape: that of x. Gradient: -g 2 / sqrt(pi) e^(-x^2).
struct erfc_op {
    static constexpr auto name = "Erfc";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return std::erfc(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        return -(g * (V(1.12837916709551257390) * exp(-(x * x))));
    }
};

template <elementwise_operand X> RILL_FRONT auto erfc(const X& x) { return apply<erfc_op>(x); }

}} // namespace rill::RILL_ABI
