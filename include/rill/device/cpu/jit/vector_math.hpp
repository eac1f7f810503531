// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <rill/device/cpu/jit/jit_ir.hpp>
#include <rill/device/cpu/simd/register_math.hpp>
#include <rill/device/cpu/simd/register_power.hpp>
#include <rill/device/cpu/simd/tanh_rows.hpp>
#include <rill/device/elementwise_op.hpp>
#include <rill/device/numbers.hpp>
#include <rill/device/structure_key.hpp>

// Elementwise ops of float, double, int32 and int64 as vector code. Value functions accept a `value` as they accept registers and numbers;
// they append to the code under construction.

namespace rill { inline namespace RILL_ABI { namespace detail {
namespace vectors {

/// Returns this thread's code under construction.
inline jit_ir*& code_now() {
    static thread_local jit_ir* code = nullptr;
    return code;
}

/// Appends an instruction. Returns its value number, or -1 if an operand has no vector code.
template <class... V> int appended(vector_op op, int number, int bytes, const V&... v) {
    if (((v.id < 0) || ...)) return -1;
    ir_instruction i{op, number};
    i.bytes = bytes == code_now()->element_bytes() ? 0 : bytes;
    std::size_t k = 0;
    ((i.args[k++] = v.id), ...);
    return code_now()->emit(i);
}

/// A truth value per lane: all bits set, or none.
struct truth {
    using value_type = bool;
    static constexpr bool is_computed = true;
    int id;

    static int any_bytes() { return code_now()->element_bytes(); } // bits are the same for each size

    friend truth operator&&(truth a, truth b) { return {appended(vector_op::bit_and, 0, any_bytes(), a, b)}; }
    friend truth operator||(truth a, truth b) { return {appended(vector_op::bit_or, 0, any_bytes(), a, b)}; }
    friend truth operator!=(truth a, truth b) { return {appended(vector_op::bit_xor, 0, any_bytes(), a, b)}; }
    friend truth operator!(truth a) { return a != truth{code_now()->constant_bits(~std::uint64_t{0})}; }
    friend truth operator==(truth a, truth b) { return !(a != b); }

    template <class Op, class... V> static truth computed(const V&...) { return {-1}; }
};

/// A register of numbers in the generated code, with the operators of pack<T, N>.
template <class T> struct value {
    using value_type = T;
    using bits_type = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static constexpr bool is_computed = true;
    static constexpr bool rounds_once = true; // fma rounds once
    static constexpr bool floating = std::is_floating_point_v<T>;
    static constexpr int bytes = sizeof(T);
    static constexpr bits_type sign_mask = bits_type{1} << (8 * sizeof(T) - 1);
    int id;

    struct numbered {
        int id;
    };
    value(numbered n) : id(n.id) {}
    template <class A>
        requires std::is_arithmetic_v<A>
    value(A number) : id(code_now()->constant_bits(std::bit_cast<bits_type>(detail::convert<T>(number)), bytes)) {}

    static value bits(bits_type x) { return numbered{code_now()->constant_bits(x, bytes)}; }
    static value none() { return numbered{-1}; } // has no vector code

    template <class... V> value with(vector_op op, int number, const V&... v) const {
        return numbered{appended(op, number, bytes, *this, v...)};
    }
    /// Appends the instruction for floats or for integers.
    value with_either(vector_op of_floats, vector_op of_ints, value b) const {
        return with(floating ? of_floats : of_ints, 0, b);
    }
    truth compared(int how, value b) const {
        return {appended(floating ? vector_op::compare : vector_op::int_compare, how, bytes, *this, b)};
    }
    /// Returns true if the registers are too small for some instructions over integers of 8 bytes.
    static bool lacks_instructions() { return !floating && sizeof(T) == 8 && !code_now()->wide(); }

    friend value operator+(value a, value b) { return a.with_either(vector_op::add, vector_op::int_add, b); }
    friend value operator-(value a, value b) { return a.with_either(vector_op::sub, vector_op::int_sub, b); }
    friend value operator*(value a, value b) {
        if (!lacks_instructions()) return a.with_either(vector_op::mul, vector_op::int_mul, b);
        const auto product = [](value x, value y) { return x.with(vector_op::int_mul_halves, 0, y); };
        const value crosswise = product(shift_bits_right(a, 32), b) + product(a, shift_bits_right(b, 32));
        return product(a, b) + shift_bits_left(crosswise, 32);
    }
    friend value operator/(value a, value b) { return floating ? a.with(vector_op::div, 0, b) : none(); }
    friend value operator%(value, value)
        requires(!floating)
    {
        return none();
    }
    friend value operator-(value a) { return floating ? a ^ bits(sign_mask) : value(0) - a; }
    friend value operator&(value a, value b) { return a.with(vector_op::bit_and, 0, b); }
    friend value operator|(value a, value b) { return a.with(vector_op::bit_or, 0, b); }
    friend value operator^(value a, value b) { return a.with(vector_op::bit_xor, 0, b); }
    // comparisons with NaN are false, except !=
    friend truth operator==(value a, value b) { return a.compared(floating ? 0 : int_equal, b); }
    friend truth operator!=(value a, value b) { return floating ? a.compared(4, b) : !(a == b); }
    friend truth operator<(value a, value b) { return floating ? a.compared(17, b) : b.compared(int_greater, a); }
    friend truth operator<=(value a, value b) { return floating ? a.compared(18, b) : !(b < a); }
    friend truth operator>(value a, value b) { return b < a; }
    friend truth operator>=(value a, value b) { return b <= a; }

    friend value select(truth m, value a, value b) { return numbered{appended(vector_op::choose, 0, bytes, m, a, b)}; }
    friend value fma(value a, value b, value c) {
        return floating ? a.with(vector_op::multiply_add, 0, b, c) : a * b + c;
    }
    friend value fnma(value a, value b, value c) {
        return floating ? a.with(vector_op::sub_product, 0, b, c) : c - a * b;
    }
    friend value larger(value a, value b) {
        return lacks_instructions() ? select(a > b, a, b) : a.with_either(vector_op::larger, vector_op::int_larger, b);
    }
    friend value smaller(value a, value b) {
        return lacks_instructions() ? select(a < b, a, b)
                                    : a.with_either(vector_op::smaller, vector_op::int_smaller, b);
    }
    friend value max(value a, value b) { return floating ? select(b == b, larger(b, a), b) : larger(b, a); }
    friend value min(value a, value b) { return floating ? select(b == b, smaller(b, a), b) : smaller(b, a); }
    friend value abs(value x) { return floating ? x & bits(sign_mask - 1) : select(x < value(0), -x, x); }
    friend value sign(value x) { return select(x < value(0), value(-1), select(x > value(0), value(1), x)); }
    friend value sqrt(value x)
        requires floating
    {
        return x.with(vector_op::sqrt, 0);
    }
    friend value floor(value x) { return floating ? x.with(vector_op::round, 9) : x; }
    friend value ceil(value x) { return floating ? x.with(vector_op::round, 10) : x; }
    friend value rsqrt(value x)
        requires floating
    {
        return value(1) / sqrt(x);
    }

    // operations on the bits of a number, as an integer of its size
    friend value add_bits(value x, bits_type n) { return x.with(vector_op::int_add, 0, bits(n)); }
    friend value add_bits(value x, value y) { return x.with(vector_op::int_add, 0, y); }
    friend value shift_bits_left(value x, int n) { return x.with(vector_op::int_left, n); }
    friend value shift_bits_right(value x, int n) { return x.with(vector_op::int_right, n); }

    /// Computes an op without a value function by Op::registers, which calls a function below. Without one, there is no vector code.
    template <class Op, class... V> static auto computed(const V&... v) {
        if constexpr (requires { Op::registers(v...); })
            return Op::registers(v...);
        else
            return none();
    }
};

inline truth select(truth m, truth a, truth b) { return (m && a) || (!m && b); }
/// Converts between numbers: of one size, or in a loop over numbers of any. Floats that are out of range become the largest or smallest integer, and NaN becomes 0.
template <class T, class From> value<T> converted(value<From> x) {
    using to = value<T>;
    constexpr bool same_size = sizeof(T) == sizeof(From);
    constexpr bool from_floats = value<From>::floating;
    if (!code_now()->loop && (!same_size || from_floats == to::floating || (sizeof(T) == 8 && !code_now()->wide())))
        return to::none();
    const bool casts = !same_size || (sizeof(T) == 8 && !code_now()->wide());
    const vector_op how = casts ? vector_op::cast : to::floating ? vector_op::to_float : vector_op::to_int;
    const to result =
        typename to::numbered{appended(how, casts ? cast_number<From, T> : 0, static_cast<int>(sizeof(T)), x)};
    if constexpr (from_floats && !to::floating) {
        constexpr From end = static_cast<From>(T(1) << (std::numeric_limits<T>::digits - 1)) * 2;
        const to in_range = select(x >= value<From>(end), to(std::numeric_limits<T>::max()), result);
        return select(x == x, in_range, to(0));
    } else {
        return result;
    }
}
template <class T, class V> auto cast_to(V x) {
    if constexpr (std::is_same_v<T, typename V::value_type>)
        return x;
    else if constexpr (std::is_same_v<T, bool>)
        return x != V(0);
    else if constexpr (std::is_same_v<typename V::value_type, bool>)
        return select(x, value<T>(1), value<T>(0));
    else
        return converted<T>(x);
}

/// The truth values of a value_pair.
struct truth_pair {
    truth lower, upper;
};

/// Two registers of doubles: as many numbers as one register of floats.
struct value_pair {
    using value_type = double;
    using part = value<double>;
    part lower, upper;

    value_pair(part a, part b) : lower(a), upper(b) {}
    explicit value_pair(double number) : lower(number), upper(number) {}
    explicit value_pair(value<float> x) : lower(widened(x, 0)), upper(widened(x, 1)) {}

    friend value_pair operator+(value_pair a, value_pair b) { return {a.lower + b.lower, a.upper + b.upper}; }
    friend value_pair operator-(value_pair a, value_pair b) { return {a.lower - b.lower, a.upper - b.upper}; }
    friend value_pair operator*(value_pair a, value_pair b) { return {a.lower * b.lower, a.upper * b.upper}; }
    friend value_pair operator/(value_pair a, value_pair b) { return {a.lower / b.lower, a.upper / b.upper}; }
    friend value_pair operator-(value_pair a) { return {-a.lower, -a.upper}; }
    friend value_pair operator&(value_pair a, value_pair b) { return {a.lower & b.lower, a.upper & b.upper}; }
    friend value_pair operator|(value_pair a, value_pair b) { return {a.lower | b.lower, a.upper | b.upper}; }
    friend truth_pair operator==(value_pair a, value_pair b) { return {a.lower == b.lower, a.upper == b.upper}; }
    friend truth_pair operator<(value_pair a, value_pair b) { return {a.lower < b.lower, a.upper < b.upper}; }
    friend truth_pair operator<=(value_pair a, value_pair b) { return {a.lower <= b.lower, a.upper <= b.upper}; }
    friend value_pair select(truth_pair m, value_pair a, value_pair b) {
        return {select(m.lower, a.lower, b.lower), select(m.upper, a.upper, b.upper)};
    }
    friend value_pair fma(value_pair a, value_pair b, value_pair c) {
        return {fma(a.lower, b.lower, c.lower), fma(a.upper, b.upper, c.upper)};
    }
    friend value_pair fnma(value_pair a, value_pair b, value_pair c) {
        return {fnma(a.lower, b.lower, c.lower), fnma(a.upper, b.upper, c.upper)};
    }
    friend value_pair larger(value_pair a, value_pair b) {
        return {larger(a.lower, b.lower), larger(a.upper, b.upper)};
    }
    friend value_pair smaller(value_pair a, value_pair b) {
        return {smaller(a.lower, b.lower), smaller(a.upper, b.upper)};
    }
    friend value_pair abs(value_pair x) { return {abs(x.lower), abs(x.upper)}; }
    friend value_pair add_bits(value_pair x, std::uint64_t n) { return {add_bits(x.lower, n), add_bits(x.upper, n)}; }
    friend value_pair add_bits(value_pair x, value_pair y) {
        return {add_bits(x.lower, y.lower), add_bits(x.upper, y.upper)};
    }
    friend value_pair shift_bits_left(value_pair x, int n) {
        return {shift_bits_left(x.lower, n), shift_bits_left(x.upper, n)};
    }
    friend value_pair shift_bits_right(value_pair x, int n) {
        return {shift_bits_right(x.lower, n), shift_bits_right(x.upper, n)};
    }
    friend value_pair scaled(value_pair p, const register_math::rounded_number<value_pair>& n) {
        return register_math::scaled_in_two_steps(p, n);
    }
    friend register_math::log_parts<value_pair> log_parts_of(value_pair x) {
        return register_math::log_parts_in_steps(x);
    }
    friend value_pair log_at_ends(value_pair x, value_pair y) { return register_math::log_at_ends_in_steps(x, y); }

private:
    static part widened(value<float> x, int which) {
        return part::numbered{appended(vector_op::widen, which, sizeof(double), x)};
    }
};

// ---- elementary functions, which register_math.hpp and register_power.hpp compute --------------------------------------------

template <std::floating_point T> value<T> scaled(value<T> p, const register_math::rounded_number<value<T>>& n) {
    if (code_now()->wide()) return p.with(vector_op::scale, 0, n.value());
    return register_math::scaled_in_two_steps(p, n);
}
template <std::floating_point T> register_math::log_parts<value<T>> log_parts_of(value<T> x) {
    return register_math::log_parts_in_steps(x);
}
template <std::floating_point T> value<T> log_at_ends(value<T> x, value<T> y) {
    return register_math::log_at_ends_in_steps(x, y);
}
/// Returns y in lanes where `size` is within the range of the vector code. Other lanes get the exact function of x.
template <std::floating_point T> value<T> exact_beyond(value<T> y, value<T> size, value<T> x, exact_number number) {
    return y.with(vector_op::exact, number, size, x, value<T>(most_reduced_angle<T>));
}

// Not inline: they are long, and many ops call them.
template <std::floating_point T> RILL_NO_INLINE value<T> exp(value<T> x) { return register_math::exp(x); }
template <std::floating_point T> RILL_NO_INLINE value<T> expm1(value<T> x) { return register_math::expm1(x); }
template <std::floating_point T> RILL_NO_INLINE value<T> log(value<T> x) { return register_math::log(x); }
template <std::floating_point T> RILL_NO_INLINE value<T> log1p(value<T> x) { return register_math::log1p(x); }
template <std::floating_point T> RILL_NO_INLINE value<T> sin(value<T> x) { return register_math::sin(x); }
template <std::floating_point T> RILL_NO_INLINE value<T> cos(value<T> x) { return register_math::cos(x); }
template <std::floating_point T> RILL_NO_INLINE value<T> tan(value<T> x) { return register_math::tan(x); }

/// The rows of tanh_rows.hpp as constants of the code.
template <class Rows> struct emitted_rows : Rows {
    value<float> entry;
    explicit emitted_rows(value<float> x) : entry(shift_bits_right(x, code_now()->wide() ? 20 : 22)) {}
    value<float> operator[](int k) const {
        using numbered = value<float>::numbered;
        const float* const row = Rows::rows[k];
        const int low = code_now()->constant_row(row);
        const int high = code_now()->wide() ? code_now()->constant_row(row + 16) : low;
        return entry.with(vector_op::lookup, 0, value<float>(numbered{low}), value<float>(numbered{high}));
    }
};
template <std::floating_point T> RILL_NO_INLINE value<T> tanh(value<T> x) {
    if constexpr (std::is_same_v<T, double>)
        return register_math::tanh_by_exponential(x);
    else if (code_now()->wide())
        return register_math::tanh_by_table<emitted_rows<tanh_rows_of_16>>(x);
    else
        return register_math::tanh_by_table<emitted_rows<tanh_rows_of_8>>(x);
}

/// Computes with doubles, which fill two registers.
template <std::same_as<float> T> RILL_NO_INLINE value<T> pow(value<T> x, value<T> y) {
    const value_pair power = register_math::rough_power(value_pair(x), value_pair(y));
    const int narrowed = appended(vector_op::narrow, 0, sizeof(T), power.lower, power.upper);
    return register_math::power_at_ends(x, y, value<T>(typename value<T>::numbered{narrowed}));
}
template <std::same_as<double> T> RILL_NO_INLINE value<T> pow(value<T> x, value<T> y) {
    return register_math::pow(x, y);
}
// there is no vector code; deleted, so that overload resolution finds no other function of this name
template <class T>
    requires(!std::floating_point<T>)
void pow(value<T>, value<T>) = delete;

/// The vector type of an element type: `truth` for bool, else `value`.
template <class T> struct type_of {
    using type = value<T>;
    static type make(int id) { return typename type::numbered{id}; }
};
template <> struct type_of<bool> {
    using type = truth;
    static truth make(int id) { return {id}; }
};

template <class T> inline constexpr bool is_number = type_set<float, double, std::int32_t, std::int64_t>::has<T>;

/// True if there is vector code for an op over these element types, the result's first: numbers and truth values. Only conversions have
/// numbers of two sizes.
template <class... T>
inline constexpr bool are_known =
    ((is_number<T> || std::is_same_v<T, bool>) && ...) &&
    (sizeof...(T) == 2 || !((... || (is_number<T> && sizeof(T) == 4)) && (... || (is_number<T> && sizeof(T) == 8))));

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
