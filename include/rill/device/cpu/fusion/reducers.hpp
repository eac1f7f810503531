// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include <rill/core/at_start.hpp>
#include <rill/device/cpu/simd/pack.hpp>
#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI {

inline namespace RILL_ISA {

// The combining operations of reductions: a merge function, generic over value types, and its identity.

struct sum_combine {
    template <class T> static constexpr T identity() { return T(0); }
    template <class V> RILL_FN static V merge(V a, V b) { return a + b; }
};
struct prod_combine {
    template <class T> static constexpr T identity() { return T(1); }
    template <class V> RILL_FN static V merge(V a, V b) { return a * b; }
};
struct max_combine {
    template <class T> static constexpr T identity() {
        using limits = std::numeric_limits<T>;
        if constexpr (is_real_floating<T> && !limits::has_infinity)
            return T(-std::numeric_limits<float>::infinity());
        else
            return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
    }
    template <class V> RILL_FN static V merge(V a, V b) { return max(a, b); }
};
struct min_combine {
    template <class T> static constexpr T identity() {
        using limits = std::numeric_limits<T>;
        if constexpr (is_real_floating<T> && !limits::has_infinity)
            return T(std::numeric_limits<float>::infinity());
        else
            return limits::has_infinity ? limits::infinity() : limits::max();
    }
    template <class V> RILL_FN static V merge(V a, V b) { return min(a, b); }
};
struct all_combine {
    template <class T> static constexpr T identity() { return true; }
    template <class V> RILL_FN static V merge(V a, V b) { return a && b; }
};
struct any_combine {
    template <class T> static constexpr T identity() { return false; }
    template <class V> RILL_FN static V merge(V a, V b) { return a || b; }
};

/// The combining operation of a reduction; a mean adds.
template <combine How>
using combine_rule = std::conditional_t<
    How == combine::sum || How == combine::mean, sum_combine,
    std::conditional_t<
        How == combine::prod, prod_combine,
        std::conditional_t<How == combine::max, max_combine,
                           std::conditional_t<How == combine::min, min_combine,
                                              std::conditional_t<How == combine::all, all_combine, any_combine>>>>>;

} // namespace RILL_ISA

namespace detail { inline namespace RILL_ISA {

template <class C, class T> void combine_init(void* to, std::int64_t n) {
    auto* out = static_cast<T*>(to);
    for (std::int64_t i = 0; i < n; ++i) out[i] = C::template identity<T>();
}

template <class C, class T> void combine_merge(void* to, const void* from, std::int64_t n) {
    constexpr int lanes = lanes_for<T>;
    using V = pack<T, lanes>;
    auto* out = static_cast<T*>(to);
    const auto* in = static_cast<const T*>(from);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) V(C::merge(V::load(out + i), V::load(in + i))).store(out + i);
    if constexpr (lanes > 1)
        if (const int rest = static_cast<int>(n - i); rest > 0)
            V(C::merge(V::load_partial(out + i, rest), V::load_partial(in + i, rest))).store_partial(out + i, rest);
}

/// Folds n elements into one: four running registers, then a tree over registers and lanes. The order depends on n alone.
/// JIT code sums in the same order (x86_codegen.ipp).
template <class C, class T> void combine_fold(void* to, const void* from, std::int64_t n) {
    constexpr int lanes = lanes_for<T>;
    using V = pack<T, lanes>;
    const auto* in = static_cast<const T*>(from);
    auto* out = static_cast<T*>(to);
    if (n == 1) return void(*out = C::merge(lane<T>(*out), lane<T>(*in)).v);
    const T identity = C::template identity<T>();
    std::int64_t i = 0;
    T rest = identity;
    constexpr bool fills = std::is_same_v<C, sum_combine> && V::registers && sizeof(T) >= 4; // pads the tail with zeros
    if (fills ? n > 0 : n >= lanes) {
        V r0(identity), r1(identity), r2(identity), r3(identity);
        for (; i + 4 * lanes <= n; i += 4 * lanes) {
            r0 = C::merge(r0, V::load(in + i));
            r1 = C::merge(r1, V::load(in + i + lanes));
            r2 = C::merge(r2, V::load(in + i + 2 * lanes));
            r3 = C::merge(r3, V::load(in + i + 3 * lanes));
        }
        V* const each[] = {&r0, &r1, &r2};
        for (int k = 0; i + lanes <= n; i += lanes, ++k) *each[k] = C::merge(*each[k], V::load(in + i));
        if constexpr (fills)
            if (i < n) r3 = C::merge(r3, V::load_partial_or_zero(in + i, static_cast<int>(n - i))), i = n;
        rest = reduce(V(C::merge(C::merge(r0, r1), C::merge(r2, r3))),
                      [](lane<T> a, lane<T> b) { return C::merge(a, b); });
    }
    for (; i < n; ++i) rest = C::merge(lane<T>(rest), lane<T>(in[i])).v;
    *out = C::merge(lane<T>(*out), lane<T>(rest)).v;
}

/// Folds rows of n elements into one row; each column has four running sums, as in combine_fold.
template <class C, class T> void combine_rows(void* to, const void* from, std::int64_t rows, std::int64_t n) {
    constexpr int lanes = lanes_for<T>;
    using V = pack<T, lanes>;
    const T identity = C::template identity<T>();
    const auto* in = static_cast<const T*>(from);
    auto* out = static_cast<T*>(to);
    const auto columns = [&](auto load) {
        V r0(identity), r1(identity), r2(identity), r3(identity);
        const T* at = in;
        std::int64_t k = rows;
        for (; k >= 4; k -= 4, at += 4 * n) {
            r0 = C::merge(r0, load(at));
            r1 = C::merge(r1, load(at + n));
            r2 = C::merge(r2, load(at + 2 * n));
            r3 = C::merge(r3, load(at + 3 * n));
        }
        for (; k > 0; --k, at += n) r0 = C::merge(r0, load(at));
        return V(C::merge(load(out), C::merge(C::merge(r0, r1), C::merge(r2, r3))));
    };
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes, in += lanes, out += lanes)
        columns([](const T* p) { return V::load(p); }).store(out);
    if constexpr (lanes > 1)
        if (const int rest = static_cast<int>(n - i); rest > 0)
            columns([=](const T* p) { return V::load_partial(p, rest); }).store_partial(out, rest);
}

/// A 128-bit two's complement sum of 64-bit integers; standard C++ has no such type.
struct long_sum {
    std::uint64_t low = 0;
    std::int64_t high = 0;

    long_sum() = default;
    template <class T> RILL_FN explicit long_sum(T x) : low(static_cast<std::uint64_t>(x)), high(x < T(0) ? -1 : 0) {}

    RILL_FN void add(const long_sum& other) {
        low += other.low;
        high += other.high + (low < other.low);
    }
    /// Returns sum / count, rounded towards zero; the quotient fits the element type.
    template <class T> RILL_HOST_DEVICE T mean(std::uint64_t count) const {
        const bool negative = high < 0;
        const std::uint64_t tail = negative ? 0 - low : low;
        auto rest = static_cast<std::uint64_t>(negative ? ~high + (low == 0) : high), quotient = tail / count;
        if (rest != 0)
            for (int bit = 63; bit >= 0; --bit) { // long division, bit by bit
                const bool carry = rest >> 63;
                rest = rest << 1 | (tail >> bit & 1);
                const bool fits = carry || rest >= count;
                if (fits) rest -= count;
                quotient = quotient << 1 | std::uint64_t(fits);
            }
        return static_cast<T>(negative ? 0 - quotient : quotient);
    }

    static void init(void* to, std::int64_t n) { std::fill_n(static_cast<long_sum*>(to), n, long_sum()); }
    static void merge(void* to, const void* from, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) static_cast<long_sum*>(to)[i].add(static_cast<const long_sum*>(from)[i]);
    }
    static void fold(void* to, const void* from, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) static_cast<long_sum*>(to)->add(static_cast<const long_sum*>(from)[i]);
    }
    static void fold_rows(void* to, const void* from, std::int64_t rows, std::int64_t n) {
        for (std::int64_t i = 0; i < rows; ++i) merge(to, static_cast<const long_sum*>(from) + i * n, n);
    }
};

/// The accumulator type for a mean of T. For integers, sums in it are exact (up to 2^32 elements of small types).
/// For 16-bit floats it is float, otherwise T.
template <class T>
using sum_for_mean =
    std::conditional_t<!is_integral<T>, compute_type<T>,
                       std::conditional_t<sizeof(T) == sizeof(std::int64_t), long_sum,
                                          std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;

template <class T, class Sum> void combine_widen(void* to, const void* from, std::int64_t n) {
    auto* out = static_cast<Sum*>(to);
    const auto* in = static_cast<const T*>(from);
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<Sum>(in[i]);
}

/// Divides sums by the count. Multiplying by the inverse would not keep the mean of equal values exact.
/// Integers divide towards zero, as in TensorFlow. A mean over nothing is NaN, or 0 for integers.
template <class T, class Sum>
RILL_HOST_DEVICE void combine_divide(void* to, const void* from, std::int64_t n, std::int64_t count) {
    auto* out = static_cast<T*>(to);
    const auto* in = static_cast<const Sum*>(from);
    if constexpr (is_integral<T>) {
        for (std::int64_t i = 0; i < n; ++i)
            if constexpr (std::is_same_v<Sum, long_sum>)
                out[i] = count == 0 ? T(0) : in[i].template mean<T>(static_cast<std::uint64_t>(count));
            else
                out[i] = count == 0 ? T(0) : static_cast<T>(in[i] / static_cast<Sum>(count));
    } else {
        using number = compute_type<Sum>;
        const auto by = static_cast<real_type<number>>(count);
        for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(static_cast<number>(in[i]) / by);
    }
}

template <class C, class T> bool add_combiner(combine how) {
    reducer c{&combine_init<C, T>, &combine_merge<C, T>, &combine_fold<C, T>, &combine_rows<C, T>};
    if constexpr (is_numeric<T> && !is_integral<T>) c.divide = &combine_divide<T, T>; // for the gradient of a mean
    register_reducer(to_string(how), dtype_of<T>, RILL_ISA_LEVEL, c);
    return true;
}

template <class T> bool add_mean() {
    using sum = sum_for_mean<T>;
    reducer c;
    if constexpr (std::is_same_v<sum, long_sum>)
        c = {&long_sum::init, &long_sum::merge, &long_sum::fold, &long_sum::fold_rows};
    else
        c = {&combine_init<sum_combine, sum>, &combine_merge<sum_combine, sum>, &combine_fold<sum_combine, sum>,
             &combine_rows<sum_combine, sum>};
    c.divide = &combine_divide<T, sum>;
    if constexpr (!std::is_same_v<sum, T>) {
        c.widen = &combine_widen<T, sum>;
        c.wide = sizeof(sum);
    }
    register_reducer(to_string(combine::mean), dtype_of<T>, RILL_ISA_LEVEL, c);
    return true;
}

template <class C, combine How, class T> struct combiner_registrar {
    static bool ensure() {
        static const bool done = [] {
            if constexpr (How == combine::mean) // the gradient of a mean uses sums
                return add_combiner<C, T>(combine::sum) && add_mean<T>();
            else
                return add_combiner<C, T>(How);
        }();
        return done;
    }
};

}} // namespace detail::RILL_ISA

inline namespace RILL_ISA {

/// Compiles the loops of one combining operation and dtype into this program.
template <combine How, class T> void compile_reducer() {
    detail::run_at_start<&detail::combiner_registrar<combine_rule<How>, How, T>::ensure>();
}

} // namespace RILL_ISA

}} // namespace rill::RILL_ABI
