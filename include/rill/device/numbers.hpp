// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <rill/config.hpp>

// Number rules that kernels of every device follow: kinds of element types, conversion and error reporting.

namespace rill { inline namespace RILL_ABI {

namespace detail {

// ---- errors of kernels: sticky bits, read and cleared by the caller of the kernel ---------------------------------------

inline constexpr unsigned integer_division_by_zero = 1;

RILL_EXPORT unsigned& sticky_errors();

#if defined(__CUDACC__)
/// The sticky errors of kernels on a GPU. One for each compiled file; read at the end of a step whose programs may divide integers.
static __device__ unsigned device_sticky_errors = 0;
#endif

/// Sets bits of the sticky errors: of this thread, or, in a kernel on a GPU, of its file.
RILL_FN void add_sticky_errors(unsigned bits) {
#if defined(__CUDA_ARCH__)
    atomicOr(&device_sticky_errors, bits);
#else
    sticky_errors() |= bits;
#endif
}

// ---- kinds of element types --------------------------------------------------------------------------------------------

template <class T> inline constexpr bool is_std_complex = false;
template <class R> inline constexpr bool is_std_complex<std::complex<R>> = true;

template <class T> struct compute_type_of {
    using type = T;
};
/// Storage types: a class that converts to float (half, bfloat16) computes in float.
template <class T>
    requires(std::is_class_v<T> && !is_std_complex<T> && std::is_convertible_v<T, float>)
struct compute_type_of<T> {
    using type = float;
};

template <class T> struct real_part_of {
    using type = T;
};
template <class R> struct real_part_of<std::complex<R>> {
    using type = R;
};

} // namespace detail

/// The type that arithmetic on T uses.
template <class T> using compute_type = typename detail::compute_type_of<T>::type;

/// The real part's type: R for complex<R>, otherwise T.
template <class T> using real_type = typename detail::real_part_of<T>::type;

namespace detail {

// Numbers as kernels see them; bool supports logic and comparison only.
template <class T>
concept integer_lane = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
concept real_lane = std::is_floating_point_v<compute_type<T>>; // includes half-like types
template <class T>
concept complex_lane = is_std_complex<T>;
template <class T>
concept floating_lane = real_lane<T> || complex_lane<T>;
template <class T>
concept numeric_lane = integer_lane<T> || floating_lane<T>;

/// Converts x to U. Floats truncate to integers and saturate; NaN becomes 0. Integers wrap.
/// Conversion to bool is `x != 0`; a complex number loses its imaginary part.
template <class U, class T> RILL_FN constexpr U convert(const T& x) {
    if constexpr (std::is_same_v<U, T>) {
        return x;
    } else if constexpr (!std::is_same_v<compute_type<T>, T>) {
        return convert<U>(static_cast<compute_type<T>>(x));
    } else if constexpr (!std::is_same_v<compute_type<U>, U>) {
        return U(convert<compute_type<U>>(x));
    } else if constexpr (complex_lane<U>) {
        using R = real_type<U>;
        if constexpr (complex_lane<T>)
            return U(static_cast<R>(x.real()), static_cast<R>(x.imag()));
        else
            return U(convert<R>(x));
    } else if constexpr (std::is_same_v<U, bool>) {
        return x != T(0);
    } else if constexpr (complex_lane<T>) {
        return convert<U>(x.real());
    } else if constexpr (std::is_floating_point_v<T> && integer_lane<U>) {
        using limits = std::numeric_limits<U>;
        constexpr T end = static_cast<T>(U(1) << (limits::digits - 1)) * 2; // the smallest value above the range
        if (x != x) return 0;
        if (x >= end) return limits::max();
        if (x <= static_cast<T>(limits::min())) return limits::min();
        return static_cast<U>(x);
    } else {
        return static_cast<U>(x);
    }
}

/// An unsigned type for arithmetic modulo 2^bits; small types would promote to int, whose overflow is undefined.
template <integer_lane T>
using wrap_type = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;

inline namespace RILL_ISA {

#if defined(__FMA__) || defined(__aarch64__) || defined(__CUDA_ARCH__)
inline constexpr bool fma_rounds_once = true;
template <class R> RILL_FN R multiply_add(R a, R b, R c) { return std::fma(a, b, c); }
#else // std::fma would be a slow call into the C library.
inline constexpr bool fma_rounds_once = false;
template <class R> RILL_FN R multiply_add(R a, R b, R c) { return a * b + c; }
#endif

} // namespace RILL_ISA

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/numbers.ipp>
#endif
