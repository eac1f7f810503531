// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/elementwise_op.hpp>
#include <rill/device/numbers.hpp>

// lane<T>: one value, the scalar counterpart of pack<T, N>. Value functions are written once for both.
// Operators and op functions are found by argument-dependent lookup, and literals convert.
// This file defines the number rules; packs follow them bit for bit wherever a result is exact.

namespace rill { inline namespace RILL_ABI {

/// A scalar value of type T, for code that is generic over scalars and SIMD packs.
template <class T> struct lane {
    using value_type = T;
    using C = compute_type<T>;
    static constexpr bool is_computed = true; // marks a value type that kernels compute with

    T v{};

    constexpr lane() = default;
    template <class A>
        requires(std::is_arithmetic_v<A> && std::is_constructible_v<T, int>)
    RILL_FN constexpr lane(A a) : v(detail::convert<T>(a)) {}
    RILL_FN constexpr lane(const T& x)
        requires(!std::is_arithmetic_v<T>)
        : v(x) {}

    RILL_FN friend constexpr lane operator+(const lane& a, const lane& b)
        requires(!std::is_same_v<T, bool>)
    {
        if constexpr (detail::integer_lane<T>)
            return lane(wrap(a) + wrap(b), modular{});
        else
            return lane(T(value(a) + value(b)));
    }
    RILL_FN friend constexpr lane operator-(const lane& a, const lane& b)
        requires detail::numeric_lane<T>
    {
        if constexpr (detail::integer_lane<T>)
            return lane(wrap(a) - wrap(b), modular{});
        else
            return lane(T(value(a) - value(b)));
    }
    RILL_FN friend constexpr lane operator*(const lane& a, const lane& b)
        requires detail::numeric_lane<T>
    {
        if constexpr (detail::integer_lane<T>) {
            return lane(wrap(a) * wrap(b), modular{});
        } else if constexpr (detail::complex_lane<T>) { // as packs: without the NaN recovery of std::complex
            return lane(T(a.v.real() * b.v.real() - a.v.imag() * b.v.imag(),
                          a.v.real() * b.v.imag() + a.v.imag() * b.v.real()));
        } else {
            return lane(T(value(a) * value(b)));
        }
    }
    RILL_FN friend constexpr lane operator/(const lane& a, const lane& b)
        requires detail::numeric_lane<T>
    {
        if constexpr (detail::integer_lane<T>) {
            if (!divides(b)) return lane();
            if constexpr (std::is_signed_v<T>)
                if (b.v == -1) return -a; // the quotient would overflow for the smallest value
            return lane(static_cast<T>(a.v / b.v));
        } else {
            return lane(T(value(a) / value(b)));
        }
    }
    /// Returns the remainder of truncated division; 0 for a zero divisor, which sets a sticky error.
    RILL_FN friend constexpr lane operator%(const lane& a, const lane& b)
        requires detail::integer_lane<T>
    {
        if (!divides(b)) return lane();
        if constexpr (std::is_signed_v<T>)
            if (b.v == -1) return lane();
        return lane(static_cast<T>(a.v % b.v));
    }
    RILL_FN friend constexpr lane operator-(const lane& a)
        requires detail::numeric_lane<T>
    {
        if constexpr (detail::integer_lane<T>)
            return lane(0u - wrap(a), modular{});
        else
            return lane(T(-value(a)));
    }

    RILL_FN friend constexpr lane<bool> operator==(const lane& a, const lane& b) {
        return lane<bool>(value(a) == value(b));
    }
    RILL_FN friend constexpr lane<bool> operator!=(const lane& a, const lane& b) {
        return lane<bool>(value(a) != value(b));
    }
    RILL_FN friend constexpr lane<bool> operator<(const lane& a, const lane& b)
        requires(!detail::complex_lane<T>)
    {
        return lane<bool>(value(a) < value(b));
    }
    RILL_FN friend constexpr lane<bool> operator<=(const lane& a, const lane& b)
        requires(!detail::complex_lane<T>)
    {
        return lane<bool>(value(a) <= value(b));
    }
    RILL_FN friend constexpr lane<bool> operator>(const lane& a, const lane& b)
        requires(!detail::complex_lane<T>)
    {
        return lane<bool>(value(a) > value(b));
    }
    RILL_FN friend constexpr lane<bool> operator>=(const lane& a, const lane& b)
        requires(!detail::complex_lane<T>)
    {
        return lane<bool>(value(a) >= value(b));
    }

    RILL_FN friend constexpr lane operator&&(const lane& a, const lane& b)
        requires std::is_same_v<T, bool>
    {
        return lane(static_cast<bool>(a.v & b.v)); // bitwise: avoids a branch
    }
    RILL_FN friend constexpr lane operator||(const lane& a, const lane& b)
        requires std::is_same_v<T, bool>
    {
        return lane(static_cast<bool>(a.v | b.v));
    }
    RILL_FN friend constexpr lane operator!(const lane& a)
        requires std::is_same_v<T, bool>
    {
        return lane(!a.v);
    }

    /// Returns a or b. Both are computed beforehand.
    RILL_FN friend constexpr lane select(const lane<bool>& condition, const lane& a, const lane& b) {
        return condition.v ? a : b;
    }
    /// Returns the larger value: NaN if either is NaN, the first of equals.
    RILL_FN friend constexpr lane max(const lane& a, const lane& b)
        requires(!detail::complex_lane<T>)
    {
        return value(a) >= value(b) || value(a) != value(a) ? a : b;
    }
    RILL_FN friend constexpr lane min(const lane& a, const lane& b)
        requires(!detail::complex_lane<T>)
    {
        return value(a) <= value(b) || value(a) != value(a) ? a : b;
    }
    /// Returns a * b + c, rounded once if the processor has a fused multiply-add.
    RILL_FN friend constexpr lane fma(const lane& a, const lane& b, const lane& c)
        requires detail::numeric_lane<T>
    {
        if constexpr (detail::real_lane<T>)
            if (!std::is_constant_evaluated()) return lane(T(detail::multiply_add(value(a), value(b), value(c))));
        return a * b + c;
    }

    /// Computes an op's scalar function in compute_type of the operands.
    template <class Op, class... U> RILL_FN static constexpr auto computed(const lane<U>&... x) {
        using R = elementwise_result<Op, U...>;
        return lane<R>(static_cast<R>(Op::scalar(static_cast<compute_type<U>>(x.v)...)));
    }

private:
    struct modular {};
    RILL_FN static constexpr decltype(auto) value(const lane& a) {
        if constexpr (std::is_same_v<C, T>)
            return (a.v);
        else
            return static_cast<C>(a.v);
    }
    template <class U> RILL_FN constexpr lane(U bits, modular) : v(static_cast<T>(bits)) {}

    RILL_FN static constexpr auto wrap(const lane& a) { return static_cast<detail::wrap_type<T>>(a.v); }
    RILL_FN static constexpr bool divides(const lane& b) {
        if (b.v != 0) return true;
        if (!std::is_constant_evaluated()) detail::add_sticky_errors(detail::integer_division_by_zero);
        return false;
    }
};

template <class U, class T> RILL_FN constexpr lane<U> cast_to(const lane<T>& x) {
    return lane<U>(detail::convert<U>(x.v));
}

}} // namespace rill::RILL_ABI
