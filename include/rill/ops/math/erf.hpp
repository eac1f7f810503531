// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>

namespace rill { inline namespace RILL_ABI {

/// The error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x. Shape: that of x. Gradient: g 2 / sqrt(pi) e^(-x^2).
struct erf_op {
    static constexpr auto name = "Erf";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return std::erf(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) {
        return g * (V(1.12837916709551257390) * exp(-(x * x)));
    }
};

template <elementwise_operand X> RILL_FRONT auto erf(const X& x) { return apply<erf_op>(x); }

}} // namespace rill::RILL_ABI
