// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/simd.hpp>

namespace rill::inline RILL_ABI::detail::inline RILL_ISA {

#if RILL_WITH_XSIMD

template <class T> RILL_FN simd<T> rsqrt(simd<T> a) { return simd<T>(T(1)) / sqrt(a); }
template <class T> RILL_FN simd<T> exp(simd<T> a) { return simd<T>::by_lane([](lane<T> x) { return exp(x); }, a); }
template <class T> RILL_FN simd<T> expm1(simd<T> a) { return simd<T>::by_lane([](lane<T> x) { return expm1(x); }, a); }
template <class T> RILL_FN simd<T> log(simd<T> a) { return simd<T>::by_lane([](lane<T> x) { return log(x); }, a); }
template <class T> RILL_FN simd<T> log1p(simd<T> a) { return simd<T>::by_lane([](lane<T> x) { return log1p(x); }, a); }
template <class T> RILL_FN simd<T> sin(simd<T> a) { return simd<T>::by_lane([](lane<T> x) { return sin(x); }, a); }
template <class T> RILL_FN simd<T> cos(simd<T> a) { return simd<T>::by_lane([](lane<T> x) { return cos(x); }, a); }
template <class T> RILL_FN simd<T> tan(simd<T> a) { return simd<T>::by_lane([](lane<T> x) { return tan(x); }, a); }
template <class T> RILL_FN simd<T> tanh(simd<T> a) { return simd<T>::by_lane([](lane<T> x) { return tanh(x); }, a); }
template <class T> RILL_FN simd<T> pow(simd<T> a, simd<T> b) {
    return simd<T>::by_lane([](lane<T> x, lane<T> y) { return pow(x, y); }, a, b);
}

#endif

} // namespace rill::inline RILL_ABI::detail::inline RILL_ISA
