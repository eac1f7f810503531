// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <rill/device/cpu/jit/jit_ir.hpp>
#include <rill/device/cpu/simd/tanh_rows.hpp>
#include <rill/device/elementwise_op.hpp>
#include <rill/device/structure_key.hpp>

// Elementwise ops of floats and doubles as vector code. Value functions accept a `value` as they accept registers and numbers; they append
// to the code under construction. device/cpu/simd/pack_math.hpp works on the C++ compiler's registers only. Its functions of floats are
// therefore repeated here, with the same arithmetic; only rounding may differ.

namespace rill { inline namespace RILL_ABI { namespace detail {
namespace vectors {

/// Returns this thread's code under construction.
inline jit_ir*& code_now() {
    static thread_local jit_ir* code = nullptr;
    return code;
}

/// Appends an instruction. Returns its value number, or -1 if an operand has no vector code.
template <class... V> int appended(vector_op op, int number, const V&... v) {
    if (((v.id < 0) || ...)) return -1;
    ir_instruction i{op, number};
    std::size_t k = 0;
    ((i.args[k++] = v.id), ...);
    return code_now()->emit(i);
}

/// A truth value per lane: all bits set, or none.
struct truth {
    using value_type = bool;
    static constexpr bool is_computed = true;
    int id;

    friend truth operator&&(truth a, truth b) { return {appended(vector_op::bit_and, 0, a, b)}; }
    friend truth operator||(truth a, truth b) { return {appended(vector_op::bit_or, 0, a, b)}; }
    friend truth operator!=(truth a, truth b) { return {appended(vector_op::bit_xor, 0, a, b)}; }
    friend truth operator!(truth a) { return a != truth{code_now()->constant_bits(~std::uint64_t{0})}; }
    friend truth operator==(truth a, truth b) { return !(a != b); }

    template <class Op, class... V> static truth computed(const V&...) { return {-1}; }
};

/// A register of numbers in the generated code, with the operators of pack<T, N>.
template <class T> struct value {
    using value_type = T;
    using integer = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static constexpr bool is_computed = true;
    static constexpr bool rounds_once = true; // fma rounds once
    static constexpr integer sign_mask = integer{1} << (8 * sizeof(T) - 1);
    int id;

    struct numbered {
        int id;
    };
    value(numbered n) : id(n.id) {}
    template <class A>
        requires std::is_arithmetic_v<A>
    value(A number) : id(code_now()->constant(static_cast<double>(static_cast<T>(number)))) {}

    static value bits(integer x) { return numbered{code_now()->constant_bits(x)}; }

    template <class... V> value with(vector_op op, int number, const V&... v) const {
        return numbered{appended(op, number, *this, v...)};
    }
    truth compared(int how, value b) const { return {appended(vector_op::compare, how, *this, b)}; }

    friend value operator+(value a, value b) { return a.with(vector_op::add, 0, b); }
    friend value operator-(value a, value b) { return a.with(vector_op::sub, 0, b); }
    friend value operator*(value a, value b) { return a.with(vector_op::mul, 0, b); }
    friend value operator/(value a, value b) { return a.with(vector_op::div, 0, b); }
    friend value operator-(value a) { return a ^ bits(sign_mask); }
    friend value operator&(value a, value b) { return a.with(vector_op::bit_and, 0, b); }
    friend value operator|(value a, value b) { return a.with(vector_op::bit_or, 0, b); }
    friend value operator^(value a, value b) { return a.with(vector_op::bit_xor, 0, b); }
    // comparisons with NaN are false, except !=
    friend truth operator==(value a, value b) { return a.compared(0, b); }
    friend truth operator!=(value a, value b) { return a.compared(4, b); }
    friend truth operator<(value a, value b) { return a.compared(17, b); }
    friend truth operator<=(value a, value b) { return a.compared(18, b); }
    friend truth operator>(value a, value b) { return b < a; }
    friend truth operator>=(value a, value b) { return b <= a; }

    friend value select(truth m, value a, value b) { return numbered{appended(vector_op::choose, 0, m, a, b)}; }
    friend value fma(value a, value b, value c) { return a.with(vector_op::multiply_add, 0, b, c); }
    friend value fnma(value a, value b, value c) { return a.with(vector_op::sub_product, 0, b, c); }
    friend value larger(value a, value b) { return a.with(vector_op::larger, 0, b); }
    friend value smaller(value a, value b) { return a.with(vector_op::smaller, 0, b); }
    friend value max(value a, value b) { return select(b == b, larger(b, a), b); }
    friend value min(value a, value b) { return select(b == b, smaller(b, a), b); }
    friend value abs(value x) { return x & bits(sign_mask - 1); }
    friend value sign_bit(value x) { return x & bits(sign_mask); }
    friend value sqrt(value x) { return x.with(vector_op::sqrt, 0); }
    friend value floor(value x) { return x.with(vector_op::round, 9); }
    friend value ceil(value x) { return x.with(vector_op::round, 10); }
    friend value rsqrt(value x) { return 1 / sqrt(x); }
    friend value sign(value x) { return select(x < value(0), value(-1), select(x > value(0), value(1), x)); }

    // they have no vector code; deleted, so that overload resolution finds no other function of these names
    friend void tan(value) = delete;
    friend void pow(value, value) = delete;

    // operations on the bits of a number, as an integer of its size
    friend value int_add(value x, integer n) { return x.with(vector_op::int_add, 0, bits(n)); }
    friend value left(value x, int n) { return x.with(vector_op::int_left, n); }
    friend value right(value x, int n) { return x.with(vector_op::int_right, n); }

    /// Computes an op without a value function by Op::registers, which calls a function below. Without one, the number is -1.
    template <class Op, class... V> static auto computed(const V&... v) {
        if constexpr (requires { Op::registers(v...); })
            return Op::registers(v...);
        else
            return value(numbered{-1});
    }
};

inline truth select(truth m, truth a, truth b) { return (m && a) || (!m && b); }
/// Converts x. There is no code for conversions between element types of different sizes.
template <class T, class V> auto cast_to(V x) {
    if constexpr (std::is_same_v<T, typename V::value_type>)
        return x;
    else if constexpr (std::is_same_v<T, bool>)
        return x != V(0);
    else if constexpr (std::is_same_v<typename V::value_type, bool>)
        return select(x, value<T>(1), value<T>(0));
    else
        return value<T>(typename value<T>::numbered{-1});
}

// Elementary functions of floats.

using single = value<float>;

template <std::size_t N> single polynomial(single x, const float (&c)[N]) {
    single y = single(c[N - 1]);
    for (std::size_t k = N - 1; k-- > 0;) y = fma(y, x, single(c[k]));
    return y;
}

constexpr float much = 12582912.f; // 1.5 · 2^23: the low bits of x + much hold x, rounded to an integer

/// The argument reduction of exp: x = n ln 2 + r.
struct exp_reduction {
    single sum, n, r;
    explicit exp_reduction(single x)
        : sum(fma(x, single(1.44269504088896340736f), single(much))), n(sum - much),
          r(fnma(n, single(-2.12194440e-4f), fnma(n, single(0.693359375f), x))) {}
};

inline single exp(single x) {
    // beyond these bounds all results are infinite or zero; NaN passes through
    const exp_reduction e(larger(single(-104), smaller(single(89), x)));
    const single one = single(1);
    const single q = polynomial(e.r, {0.4999999343f, 0.166665204f, 0.04166839081f, 0.008368745157f, 0.001381453895f});
    const single p = fma(fma(q, e.r, one), e.r, one);
    if (code_now()->wide()) return p.with(vector_op::scale, 0, e.n);
    const truth small = e.sum < single(much - 124); // 2^n would be subnormal: scale in two steps
    const single biased = int_add(e.sum, 126).with(vector_op::int_add, 0, select(small, single::bits(64), single(0)));
    return p * left(biased, 23) * select(small, single::bits(64u << 23), single(2));
}

inline single expm1(single x) {
    const exp_reduction e(larger(single(-20), smaller(single(89), x)));
    const single q = polynomial(
        e.r, {0.5000000044f, 0.1666666637f, 0.04166636043f, 0.008333389457f, 0.001394066847f, 0.0001984588225f});
    const single s = left(int_add(e.sum, 126), 23), h = fma(s, fma(e.r * e.r, q, e.r), s - 0.5f);
    return select(abs(x) < single(std::numeric_limits<float>::epsilon() / 4), x, h + h);
}

template <class Rows> single tanh_by(single x) {
    const single a = smaller(single(Rows::most), abs(x));
    const single entry = right(fma(a, single(Rows::scale), single(Rows::shift)), code_now()->wide() ? 20 : 22);
    const auto row = [&](int k) {
        const float* const from = Rows::rows[k];
        const int low = code_now()->constant_row(from);
        const int high = code_now()->wide() ? code_now()->constant_row(from + 16) : low;
        return entry.with(vector_op::lookup, 0, single(single::numbered{low}), single(single::numbered{high}));
    };
    const single r = a - row(0);
    single y = row(Rows::degree + 1);
    for (int k = Rows::degree; k > 0; --k) y = fma(y, r, row(k));
    return y | sign_bit(x);
}
inline single tanh(single x) { return code_now()->wide() ? tanh_by<tanh_rows_of_16>(x) : tanh_by<tanh_rows_of_8>(x); }

/// The argument reduction of log: x = 2^exponent (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for positive normal x.
struct log_reduction {
    single u, biased, f, exponent;
    explicit log_reduction(single x)
        : u(int_add(x, 0x3f800000u - 0x3f3504f3u)), biased(right(u, 23)),
          f(int_add(u & single::bits(0x007fffff), 0x3f3504f3) - 1.f),
          exponent((biased | single::bits(0x4b000000)) - (8388608.f + 127)) {}
};
inline single log_of_parts(single exponent, single f) {
    const single square = f * f, half_square = f * 0.5f * f;
    const single p = polynomial(f, {0.333333126f, -0.250000096f, 0.2000211866f, -0.1666799584f, 0.1421955242f,
                                    -0.1240558915f, 0.1188816206f, -0.1167565031f, 0.06746639084f});
    const single tail = fma(exponent, single(-2.12194440e-4f), square * f * p);
    return fma(exponent, single(0.693359375f), f + (tail - half_square));
}
/// Returns y, the logarithm of x, if x is positive and finite. Returns the infinity or NaN that other x require.
inline single log_at_ends(single x, single y) {
    const single infinity = single::bits(0x7f800000), zero = single(0);
    const single upper = select(x < infinity, y, x);
    return select(x <= zero, select(x == zero, single::bits(0xff800000), single::bits(0x7fc00000)), upper);
}
inline single log(single x) {
    const truth subnormal = x < single(std::numeric_limits<float>::min());
    const log_reduction parts(select(subnormal, x * 8388608.f, x));
    return log_at_ends(x, log_of_parts(parts.exponent - select(subnormal, single(23), single(0)), parts.f));
}
inline single log1p(single x) {
    const single u = 1.f + x, x_in_u = u - 1.f, one_in_u = u - x_in_u;
    const single lost = (1.f - one_in_u) + (x - x_in_u);
    const log_reduction parts(u);
    // 2^(1 - exponent): 255 - biased, as ~biased + 256
    const single shrink = left(int_add(parts.biased ^ single::bits(0xffffffff), 256), 23);
    const single y = log_at_ends(u, log_of_parts(parts.exponent, fma(lost * 0.5f, shrink, parts.f)));
    return select(abs(x) < single(std::numeric_limits<float>::epsilon() / 4), x, y);
}

/// The argument reduction of sine and cosine: |x| = n π/2 + r with |r| <= π/4. The low bits of `sum` hold n. `behind` is the part of r
/// below the last place of a float. It is added at the end, since loops over scalars wait for every operation on the path to a sine.
struct angle {
    single x, sum, r, behind;
    explicit angle(single number)
        : x(abs(number)), sum(fma(x, single(0.636619772367581343076f), single(much))), r(0), behind(0) {
        const single m = sum - much, next = fnma(m, single(0x1.fb4p-12f), fnma(m, single(0x1.92p+0f), x));
        r = fnma(m, single(0x1.444p-24f), next);
        behind = fnma(m, single(0x1.68c234p-39f), fnma(m, single(0x1.444p-24f), next - r));
    }
    truth odd() const { return (left(sum, 31) | single(1)) < single(0); }
    /// Returns the sign bit: bit 1 of n + ahead.
    single sign(int ahead) const { return sign_bit(left(int_add(sum, static_cast<std::uint32_t>(ahead)), 30)); }
    single sine() const {
        const single z = r * r;
        const single p = fma(z * z, fma(z, single(2.718046476e-6f), single(-0.0001983930442f)),
                             fma(z, single(0.008333329281f), single(-0.1666666664f)));
        return r + fma(z * r, p, behind);
    }
    single cosine() const {
        const single z = r * r;
        const single p = polynomial(z, {0.04166664555f, -0.001388730987f, 2.4432413e-5f});
        return fma(z, single(-0.5f), single(1)) + fma(z * z, p, -(behind * r));
    }
    /// Returns y in lanes where |x| is within the range of the vector code. Other lanes get the exact function `number`.
    single within(single y, exact_number function, single number) const {
        return y.with(vector_op::exact, function, x, number, single(exact_functions<float>[function].most));
    }
};
inline single sin(single x) {
    const angle a(x);
    return a.within(select(a.odd(), a.cosine(), a.sine()) ^ a.sign(0) ^ sign_bit(x), exact_sine, x);
}
inline single cos(single x) {
    const angle a(x);
    return a.within(select(a.odd(), a.sine(), a.cosine()) ^ a.sign(1), exact_cosine, x);
}

/// The vector type of an element type: `truth` for bool, else `value`.
template <class T> struct type_of {
    using type = value<T>;
    static type make(int id) { return typename type::numbered{id}; }
};
template <> struct type_of<bool> {
    using type = truth;
    static truth make(int id) { return {id}; }
};

template <class T> inline constexpr bool is_number = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// True if there is vector code for an op over these element types: numbers of one size, and truth values.
template <class... T>
inline constexpr bool are_known = ((is_number<T> || std::is_same_v<T, bool>) && ...) &&
                                  !((... || std::is_same_v<T, float>) && (... || std::is_same_v<T, double>));

template <class Op, class... T, std::size_t... I>
int append_op(jit_ir& to, const int* args, std::index_sequence<I...>) {
    const auto before = std::exchange(code_now(), &to);
    const int id = compute<Op>(type_of<T>::make(args[I])...).id;
    code_now() = before;
    return id;
}

} // namespace vectors

/// A function that appends an op. It returns the value number of the result, or -1 if there is no vector code.
using vector_emitter = int (*)(jit_ir& to, const int* args);

void register_vector_op(const std::string& key, vector_emitter emit);
/// Returns the emitter for the key of a one-op program, or null if there is none.
vector_emitter find_vector_op(const std::string& key);

template <class Op, class... T> void register_vector_op() {
    using R = elementwise_result<Op, T...>;
    if constexpr (vectors::are_known<R, T...>)
        register_vector_op(key_of<structure<Op, R, leaf<T>...>>(), [](jit_ir& to, const int* args) {
            return vectors::append_op<Op, T...>(to, args, std::index_sequence_for<T...>());
        });
}

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/vector_math.ipp>
#endif
