// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <numbers>

#include <rill/core/dims.hpp>
#include <rill/device/cpu/simd/pack.hpp>
#include <rill/device/elementary.hpp>
#include <rill/device/philox.hpp>

// Arrays of random numbers. Element i uses block i / 4 of the stream, or i / 2 if an element takes 64 bits.
// This does not depend on the number of SIMD lanes.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// N consecutive blocks from `first` on, stored word by word, so that loops over k vectorize.
template <int N> struct block_batch {
    std::uint32_t word[4][N];

    block_batch(const random_stream& s, std::uint64_t first) {
        for (int k = 0; k < N; ++k) {
            const std::uint64_t i = first + static_cast<std::uint64_t>(k);
            word[0][k] = random_stream::low(i);
            word[1][k] = random_stream::high(i);
            word[2][k] = random_stream::low(s.run);
            word[3][k] = random_stream::high(s.run);
        }
        std::uint32_t k0 = random_stream::low(s.seed), k1 = random_stream::high(s.seed);
        for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
            for (int k = 0; k < N; ++k) {
                const std::uint64_t a = std::uint64_t(0xD2511F53u) * word[0][k],
                                    b = std::uint64_t(0xCD9E8D57u) * word[2][k];
                word[0][k] = random_stream::high(b) ^ word[1][k] ^ k0;
                word[2][k] = random_stream::high(a) ^ word[3][k] ^ k1;
                word[1][k] = random_stream::low(b);
                word[3][k] = random_stream::low(a);
            }
    }
    /// Returns the 64 bits of half h of block k.
    std::uint64_t bits(int h, int k) const { return word[2 * h][k] | std::uint64_t(word[2 * h + 1][k]) << 32; }
};

/// Returns the upper 64 bits of a 64 × 64-bit product.
RILL_HOST_DEVICE constexpr std::uint64_t upper_product(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
    const std::uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & 0xffffffffu);
    return ah * bh + (middle >> 32) + (other >> 32);
}

/// Fills n elements, `Each` per block. make(batch, first, values) computes the values for all blocks of a batch.
template <int Each, int N, class T, class Make>
void fill_from_blocks(index_t n, const random_stream& s, T* to, Make make) {
    using C = compute_type<T>;
    C values[Each][N];
    for (index_t done = 0; done < n; done += Each * N) {
        const auto first = static_cast<std::uint64_t>(done / Each);
        make(block_batch<N>(s, first), first, values);
        const index_t left = std::min<index_t>(n - done, Each * N);
        for (index_t i = 0; i < left; ++i) to[done + i] = static_cast<T>(values[i % Each][i / Each]);
    }
}

/// Computes two independent standard normals from two uniforms (Box and Muller), u in (0, 1] and v in [0, 1).
template <class V> RILL_FN void normals(const V& u, const V& v, V& a, V& b) {
    using C = typename V::value_type;
    const V radius = compute<elementary::sqrt_function>(V(C(-2)) * compute<elementary::log_function>(u)),
            angle = V(2 * std::numbers::pi_v<C>) * v;
    a = radius * compute<elementary::cos_function>(angle);
    b = radius * compute<elementary::sin_function>(angle);
}

/// Returns a uniform number from random bits: 32 bits for float, 64 for double. "open" is (0, 1], "half open" is [0, 1).
RILL_FN float open_uniform(std::uint32_t bits) { return static_cast<float>(bits) * 0x1p-32f + 0x1p-33f; }
RILL_FN float half_open_uniform(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
RILL_FN double open_uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53 + 0x1p-54; }
RILL_FN double half_open_uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// Returns the largest number of a narrow type T that is at most x.
/// Rounding to nearest would round numbers just below a range's end to the end itself.
template <class T> RILL_FN float rounded_down(float x) {
    T near(x);
    if (static_cast<float>(near) > x) { // step towards -inf, as x lies between two neighbours in T
        if (static_cast<float>(near) > 0)
            --near.bits;
        else
            near.bits = static_cast<std::uint16_t>((near.bits | 0x8000u) + 1);
    }
    return static_cast<float>(near);
}

template <class C> inline constexpr int normals_per_block = std::is_same_v<C, float> ? 4 : 2;

/// Computes the standard normals of all blocks of a batch.
template <class C, int N> void normal_values(const block_batch<N>& b, C (&z)[normals_per_block<C>][N]) {
    using V = pack<C, N>;
    C u[N], v[N];
    for (int h = 0; h < normals_per_block<C>; h += 2) {
        for (int k = 0; k < N; ++k) {
            if constexpr (std::is_same_v<C, float>) {
                u[k] = open_uniform(b.word[h][k]);
                v[k] = half_open_uniform(b.word[h + 1][k]);
            } else {
                u[k] = open_uniform(b.bits(0, k));
                v[k] = half_open_uniform(b.bits(1, k));
            }
        }
        V x, y;
        normals(V::load(u), V::load(v), x, y);
        x.store(z[h]);
        y.store(z[h + 1]);
    }
}

/// Returns one normal number of a block, redrawn from attempt `attempt`.
template <class C>
RILL_HOST_DEVICE C normal_again(const random_stream& s, std::uint64_t block, int place, std::uint32_t attempt) {
    const auto w = s.block(block, attempt);
    lane<C> u, v, x, y;
    if constexpr (std::is_same_v<C, float>) {
        const auto h = static_cast<std::size_t>(place / 2 * 2);
        u = open_uniform(w[h]);
        v = half_open_uniform(w[h + 1]);
    } else {
        u = open_uniform(w[0] | std::uint64_t(w[1]) << 32);
        v = half_open_uniform(w[2] | std::uint64_t(w[3]) << 32);
    }
    normals(u, v, x, y);
    return place % 2 ? y.v : x.v;
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Fills with uniform numbers in [from, end). Real numbers lie on a grid of 2^-24 (double: 2^-53) of the range.
/// Integers have no visible bias. Narrow types round down; this keeps the probability of x < t exact for each t of the type.
/// The bits are the same on every device: products are exact or rounded once.
template <class T> void fill_uniform(index_t n, const random_stream& s, double from, double end, T* to) {
    if constexpr (std::is_integral_v<T>) {
        using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
        const auto low = static_cast<std::uint64_t>(detail::convert<wide>(from));
        const std::uint64_t width = static_cast<std::uint64_t>(detail::convert<wide>(end)) - low;
        for (index_t i = 0; i < n; i += 2) {
            const auto w = s.block(static_cast<std::uint64_t>(i / 2));
            for (index_t k = 0; k < 2 && i + k < n; ++k) {
                const auto h = static_cast<std::size_t>(2 * k);
                to[i + k] = static_cast<T>(low + detail::upper_product(w[h] | std::uint64_t(w[h + 1]) << 32, width));
            }
        }
    } else if constexpr (std::is_same_v<T, double>) {
        detail::fill_from_blocks<2, 8>(n, s, to, [&](const auto& b, std::uint64_t, auto& values) {
            for (int h = 0; h < 2; ++h)
                for (int k = 0; k < 8; ++k) {
                    const double x = std::fma(detail::half_open_uniform(b.bits(h, k)), end - from, from);
                    values[h][k] = x < end ? x : from;
                }
        });
    } else {
        const auto first = static_cast<T>(static_cast<float>(from));
        const auto low = static_cast<float>(first), high = static_cast<float>(static_cast<T>(static_cast<float>(end)));
        const double start = low, width = static_cast<double>(high) - start;
        detail::fill_from_blocks<4, 16>(n, s, to, [&](const auto& b, std::uint64_t, auto& values) {
            for (int w = 0; w < 4; ++w)
                for (int k = 0; k < 16; ++k) {
                    const double u = detail::half_open_uniform(b.word[w][k]);
                    auto x = static_cast<float>(start + u * width);
                    if (x >= high) x = low; // rounding reached the end
                    if constexpr (!std::is_same_v<T, float>) x = detail::rounded_down<T>(x);
                    values[w][k] = x;
                }
        });
    }
}

/// Fills with normal numbers of this mean and standard deviation, exact except for the rounding of log, cos and sin.
template <class T> void fill_normal(index_t n, const random_stream& s, double mean, double deviation, T* to) {
    using C = compute_type<T>;
    constexpr int each = detail::normals_per_block<C>, lanes = lanes_for<C>;
    const auto m = static_cast<C>(mean), d = static_cast<C>(deviation);
    detail::fill_from_blocks<each, lanes>(n, s, to, [&](const auto& b, std::uint64_t, auto& values) {
        detail::normal_values<C, lanes>(b, values);
        for (auto& row : values)
            for (auto& z : row) z = m + d * z;
    });
}

/// Fills with normal numbers, redrawn while they differ from the mean by more than two standard deviations.
template <class T> void fill_truncated_normal(index_t n, const random_stream& s, double mean, double deviation, T* to) {
    using C = compute_type<T>;
    constexpr int each = detail::normals_per_block<C>, lanes = lanes_for<C>;
    const auto m = static_cast<C>(mean), d = static_cast<C>(deviation);
    detail::fill_from_blocks<each, lanes>(n, s, to, [&](const auto& b, std::uint64_t first, auto& values) {
        detail::normal_values<C, lanes>(b, values);
        for (int place = 0; place < each; ++place)
            for (int k = 0; k < lanes; ++k) {
                C z = values[place][k];
                for (std::uint32_t attempt = 1; !(std::abs(z) <= C(2)); ++attempt) // rejects one in 22
                    z = attempt < 256
                            ? detail::normal_again<C>(s, first + static_cast<std::uint64_t>(k), place, attempt)
                            : C(0);
                values[place][k] = m + d * z;
            }
    });
}

}}} // namespace rill::RILL_ABI::RILL_ISA
