// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/numbers.hpp>

// lane<T>: one value, the scalar twin of pack<T, N>. Value functions are written once over both: operators and the
// functions below are found by argument lookup, and literals convert. The rules of numbers are stated here, and packs
// follow them bit for bit wherever a result is exact.

namespace rill::inline RILL_ABI {

/// One value of type T.
template <class T> struct lane {
    using value_type = T;
    using C = compute_type<T>;

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
        } else if constexpr (detail::complex_lane<T>) { // the plain formula: no second look at NaN, as packs do it
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
                if (b.v == -1) return -a; // the quotient of the smallest value overflows
            return lane(static_cast<T>(a.v / b.v));
        } else {
            return lane(T(value(a) / value(b)));
        }
    }
    /// The remainder of the truncated quotient.
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
        return lane(static_cast<bool>(a.v & b.v)); // no branch
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

    /// Both branches are values: nothing is skipped.
    RILL_FN friend constexpr lane select(const lane<bool>& condition, const lane& a, const lane& b) {
        return condition.v ? a : b;
    }
    /// NaN if one is NaN; the first of equals.
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
    /// Integers wrap; a negative exponent gives 1, -1 or 0, the truncated value.
    RILL_FN friend lane pow(const lane& a, const lane& b)
        requires detail::numeric_lane<T>
    {
        if constexpr (detail::integer_lane<T>)
            return integer_power(a, b);
        else
            return lane(T(std::pow(value(a), value(b))));
    }
    /// a * b + c, rounded once where the processor can.
    RILL_FN friend constexpr lane fma(const lane& a, const lane& b, const lane& c)
        requires detail::numeric_lane<T>
    {
        if constexpr (detail::real_lane<T>)
            if (!std::is_constant_evaluated()) return lane(T(detail::multiply_add(value(a), value(b), value(c))));
        return a * b + c;
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
        if (!std::is_constant_evaluated()) detail::sticky_errors() |= detail::integer_division_by_zero;
        return false;
    }
    RILL_FN static constexpr lane integer_power(lane base, const lane& exponent) {
        lane result(1);
        if constexpr (std::is_signed_v<T>)
            if (exponent.v < 0) {
                if (base.v == 0) divides(base); // 1 / 0
                return base.v == 1 || (base.v == -1 && exponent.v % 2 == 0) ? lane(1) : base.v == -1 ? base : lane();
            }
        for (auto e = static_cast<std::make_unsigned_t<T>>(exponent.v); e != 0; e = static_cast<decltype(e)>(e >> 1)) {
            if (e & 1) result = result * base;
            base = base * base;
        }
        return result;
    }
};

// ---- functions of one value --------------------------------------------------------------------------------------------

namespace detail {

template <class F, class T> RILL_FN lane<T> through(F f, const lane<T>& x) {
    return lane<T>(T(f(static_cast<compute_type<T>>(x.v))));
}

} // namespace detail

template <class U, class T> RILL_FN constexpr lane<U> cast_to(const lane<T>& x) {
    return lane<U>(detail::convert<U>(x.v));
}

/// The magnitude: a real number for a complex one. That of the smallest integer wraps to itself.
template <detail::numeric_lane T> RILL_FN constexpr lane<real_type<T>> abs(const lane<T>& x) {
    if constexpr (detail::integer_lane<T>)
        return x.v < T(0) ? -x : x;
    else
        return lane<real_type<T>>(real_type<T>(std::abs(static_cast<compute_type<T>>(x.v))));
}

/// 1, -1, or x itself where that is a zero or NaN.
template <class T>
    requires(detail::integer_lane<T> || detail::real_lane<T>)
RILL_FN constexpr lane<T> sign(const lane<T>& x) {
    const auto v = static_cast<compute_type<T>>(x.v);
    return v > 0 ? lane<T>(1) : v < 0 ? lane<T>(-1) : x;
}

template <class T> RILL_FN constexpr lane<T> conj(const lane<T>& x) {
    if constexpr (detail::complex_lane<T>)
        return lane<T>(T(x.v.real(), -x.v.imag()));
    else
        return x;
}

template <class T>
    requires(detail::integer_lane<T> || detail::real_lane<T>)
RILL_FN lane<T> floor(const lane<T>& x) {
    if constexpr (detail::integer_lane<T>)
        return x;
    else
        return detail::through([](auto v) { return std::floor(v); }, x);
}
template <class T>
    requires(detail::integer_lane<T> || detail::real_lane<T>)
RILL_FN lane<T> ceil(const lane<T>& x) {
    if constexpr (detail::integer_lane<T>)
        return x;
    else
        return detail::through([](auto v) { return std::ceil(v); }, x);
}

template <detail::floating_lane T> RILL_FN lane<T> exp(const lane<T>& x) {
    return detail::through([](auto v) { return std::exp(v); }, x);
}
template <detail::real_lane T> RILL_FN lane<T> expm1(const lane<T>& x) {
    return detail::through([](auto v) { return std::expm1(v); }, x);
}
template <detail::floating_lane T> RILL_FN lane<T> log(const lane<T>& x) {
    return detail::through([](auto v) { return std::log(v); }, x);
}
template <detail::real_lane T> RILL_FN lane<T> log1p(const lane<T>& x) {
    return detail::through([](auto v) { return std::log1p(v); }, x);
}
template <detail::floating_lane T> RILL_FN lane<T> sqrt(const lane<T>& x) {
    return detail::through([](auto v) { return std::sqrt(v); }, x);
}
template <detail::floating_lane T> RILL_FN lane<T> rsqrt(const lane<T>& x) {
    return detail::through([](auto v) { return decltype(v)(1) / std::sqrt(v); }, x);
}
template <detail::floating_lane T> RILL_FN lane<T> sin(const lane<T>& x) {
    return detail::through([](auto v) { return std::sin(v); }, x);
}
template <detail::floating_lane T> RILL_FN lane<T> cos(const lane<T>& x) {
    return detail::through([](auto v) { return std::cos(v); }, x);
}
template <detail::floating_lane T> RILL_FN lane<T> tan(const lane<T>& x) {
    return detail::through([](auto v) { return std::tan(v); }, x);
}
template <detail::floating_lane T> RILL_FN lane<T> tanh(const lane<T>& x) {
    return detail::through([](auto v) { return std::tanh(v); }, x);
}

} // namespace rill::inline RILL_ABI
