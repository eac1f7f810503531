// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/real.hpp>
#include <rill/ops/math/sign.hpp>

namespace rill { inline namespace RILL_ABI {

/// |x|. Shape: that of x. Gradient: g sign(x).
struct abs_op {
    static constexpr auto name = "Abs";
    static constexpr int cost = 1;
    using domain_type = domains::real;
    using compiled_types = types::common;
    template <class T> static constexpr T scalar(const T& x) {
        if constexpr (is_integral<T>) // that of the smallest integer wraps to itself
            return x < T(0) ? (-lane<T>(x)).v : x;
        else
            return std::abs(x);
    }
    template <class R> RILL_FN static auto registers(const R& x) -> decltype(abs(x)) { return abs(x); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * sign(x); }
};

namespace detail {

/// z times the conjugate of its direction, without the square that may overflow.
template <class X> auto complex_abs(const X& z) { return real(z * conj(sign(z))); }

} // namespace detail

/// Of complex numbers too: their distance from 0, as floats, with the gradient g sign(z).
template <elementwise_operand X> RILL_FN constexpr auto abs(const X& x) {
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
