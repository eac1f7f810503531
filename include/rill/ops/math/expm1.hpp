// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

/// e^x - 1, accurate near 0. Accurate to 2 ulp for float and double. Shape: that of x. Gradient: g conj(e^x).
struct expm1_op {
    static constexpr auto name = "Expm1";
    using domain_type = domains::floating;
    using compiled_types = types::common;
    template <class T> RILL_FN static T scalar(const T& x) {
        if constexpr (is_complex<T>) {
            const auto a = x.real(), b = x.imag(), s = std::sin(b / 2);
            return T(std::expm1(a) * std::cos(b) - 2 * s * s, std::exp(a) * std::sin(b));
        } else {
            return std::expm1(x);
        }
    }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(expm1(x)) { return expm1(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * conj(exp(x)); }
};

template <elementwise_operand X> RILL_FRONT auto expm1(const X& x) { return apply<expm1_op>(x); }

}} // namespace rill::RILL_ABI
