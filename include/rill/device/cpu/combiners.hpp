// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <rill/device/cpu/pack.hpp>
#include <rill/device/registry.hpp>

namespace rill::inline RILL_ABI {

inline namespace RILL_ISA {

// How two values come together: a generic function over value types, and the identity.

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

} // namespace RILL_ISA

namespace detail::inline RILL_ISA {

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

/// Four running registers, then a tree over registers and lanes: fixed by n alone.
template <class C, class T> void combine_fold(void* to, const void* from, std::int64_t n) {
    constexpr int lanes = lanes_for<T>;
    using V = pack<T, lanes>;
    const auto* in = static_cast<const T*>(from);
    auto* out = static_cast<T*>(to);
    const T identity = C::template identity<T>();
    std::int64_t i = 0;
    T rest = identity;
    if (n >= lanes) {
        V r0(identity), r1(identity), r2(identity), r3(identity);
        for (; i + 4 * lanes <= n; i += 4 * lanes) {
            r0 = C::merge(r0, V::load(in + i));
            r1 = C::merge(r1, V::load(in + i + lanes));
            r2 = C::merge(r2, V::load(in + i + 2 * lanes));
            r3 = C::merge(r3, V::load(in + i + 3 * lanes));
        }
        for (; i + lanes <= n; i += lanes) r0 = C::merge(r0, V::load(in + i));
        const V r = C::merge(C::merge(r0, r1), C::merge(r2, r3));
        T lane_values[lanes];
        r.store(lane_values);
        for (int width = lanes / 2; width > 0; width /= 2)
            for (int k = 0; k < width; ++k)
                lane_values[k] = C::merge(lane<T>(lane_values[k]), lane<T>(lane_values[k + width])).v;
        rest = lane_values[0];
    }
    for (; i < n; ++i) rest = C::merge(lane<T>(rest), lane<T>(in[i])).v;
    *out = C::merge(lane<T>(*out), lane<T>(rest)).v;
}

template <class T> void combine_scale(void* to, const void* from, std::int64_t n, double factor) {
    auto* out = static_cast<T*>(to);
    const auto* in = static_cast<const T*>(from);
    // dividing by the count keeps the mean of equal values exact; integers divide towards zero, as TensorFlow does
    const double count = 1.0 / factor;
    for (std::int64_t i = 0; i < n; ++i) {
        if constexpr (is_complex<T>)
            out[i] = in[i] / static_cast<typename T::value_type>(count);
        else if constexpr (is_integral<T>)
            out[i] = count == 0 ? T(0) : static_cast<T>(static_cast<double>(in[i]) / count);
        else if constexpr (std::is_same_v<T, double>)
            out[i] = in[i] / count;
        else
            out[i] = static_cast<T>(static_cast<float>(in[i]) / static_cast<float>(count));
    }
}

template <class C, class T> bool add_combiner(combine how) {
    combiner c{&combine_init<C, T>, &combine_merge<C, T>, &combine_fold<C, T>, nullptr};
    if constexpr (is_numeric<T>) c.scale = &combine_scale<T>;
    register_combiner(to_string(how), dtype_of<T>, RILL_ISA_LEVEL, c);
    return true;
}

template <class C, combine How, class T> struct combiner_registrar {
    static bool ensure() {
        static const bool done = add_combiner<C, T>(How);
        return done;
    }
    static inline const bool at_start = ensure();
};

} // namespace detail::inline RILL_ISA

inline namespace RILL_ISA {

/// Compiles the loops of one way of combining into this program.
template <combine How, class T> void compile_combiner() {
    constexpr combine how = How == combine::mean ? combine::sum : How; // a mean is a sum, scaled
    using rule = std::conditional_t<
        how == combine::sum, sum_combine,
        std::conditional_t<
            how == combine::prod, prod_combine,
            std::conditional_t<how == combine::max, max_combine,
                               std::conditional_t<how == combine::min, min_combine,
                                                  std::conditional_t<how == combine::all, all_combine, any_combine>>>>>;
    using registrar = detail::combiner_registrar<rule, how, T>;
    // the static member registers at start (for graphs that come from elsewhere), the call for those built before that
    (void)registrar::at_start;
    registrar::ensure();
}

} // namespace RILL_ISA

} // namespace rill::inline RILL_ABI
