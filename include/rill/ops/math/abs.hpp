// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <rill/expr/apply.hpp>
#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/imag.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/logical_and.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/real.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sign.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/square.hpp>

namespace rill { inline namespace RILL_ABI {

/// |x|. Shape: that of x. Gradient: g sign(x).
struct abs_op {
    static constexpr auto name = "Abs";
    static constexpr int cost = 1;
    using domain_type = domains::real;
    using compiled_types = types::common;
    template <class T> RILL_FN static constexpr T scalar(const T& x) {
        if constexpr (is_integral<T>) // the magnitude of the smallest integer wraps to itself
            return x < T(0) ? (-lane<T>(x)).v : x;
        else
            return std::abs(x);
    }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(abs(x)) { return abs(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * sign(x); }
};

namespace detail {

/// Computes the magnitude relative to the larger part, so that no square overflows. It has derivatives of any order.
template <class X> auto complex_abs(const X& z) {
    const auto a = real(z), b = imag(z);
    const auto most = stop_gradient(maximum(apply<abs_op>(a), apply<abs_op>(b)));
    const auto usual = logical_and(most > 0.0, most < std::numeric_limits<double>::infinity());
    const auto scale = select(usual, most, 1.0);
    const auto sum = square(a / scale) + square(b / scale);
    const auto is_zero = equal(most, 0.0); // the root has no slope there
    return sealed(select(is_zero, 0.0, scale * sqrt(select(is_zero, 1.0, sum))));
}

} // namespace detail

/// Returns |x|. For complex x, the result is real and its gradient is g sign(z).
template <elementwise_operand X> RILL_FRONT auto abs(const X& x) {
    if constexpr (untyped_operand<X>) {
        if (x.dtype() == dtype::complex64 || x.dtype() == dtype::complex128) return detail::complex_abs(x);
        return apply<abs_op>(x);
    } else if constexpr (typed_operand<X> && is_complex<typename X::value_type>) {
        return detail::complex_abs(x);
    } else {
        return apply<abs_op>(x);
    }
}

}} // namespace rill::RILL_ABI
