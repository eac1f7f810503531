// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// -1, 0 or 1 by the sign of x; for complex numbers x / |x|. NaN stays NaN. Shape: that of x. Gradient: 0 for any g, also for complex
/// numbers as in TensorFlow.
struct sign_op {
    static constexpr auto name = "Sign";
    static constexpr int cost = 1;
    using domain_type = domains::numeric;
    using compiled_types = types::common;
    template <class T> RILL_FN static constexpr T scalar(const T& x) {
        if constexpr (is_complex<T>)
            return x == T(0) ? x : x / std::abs(x);
        else
            return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
    }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(sign(x)) { return sign(x); }
    template <class V> RILL_FN static auto pullback(const V&) { return V(0); }
};

template <elementwise_operand X> RILL_FRONT auto sign(const X& x) { return apply<sign_op>(x); }

}} // namespace rill::RILL_ABI
