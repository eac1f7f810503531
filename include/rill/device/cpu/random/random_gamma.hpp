// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include <rill/device/cpu/random/random.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns a number in (0, 1] from 64 bits of a block: the two words from `at` on.
RILL_FN double open_uniform(const philox::block& b, std::size_t at) {
    return open_uniform(b[at] | std::uint64_t(b[at + 1]) << 32);
}

/// Returns element i of a gamma distribution of this shape and rate 1 (Marsaglia and Tsang 2000).
/// The method squeezes the cube of a normal number.
/// Attempt k uses blocks 2 k (a normal number) and 2 k + 1 (two uniforms) of the element.
RILL_HOST_DEVICE inline double gamma_value(const random_stream& s, std::uint64_t i, double shape) {
    const bool boosted = shape < 1; // draws from shape + 1, then scales towards 0
    const double d = (boosted ? shape + 1 : shape) - 1. / 3, c = 1 / std::sqrt(9 * d);
    for (std::uint32_t attempt = 0; attempt < 256; attempt += 2) { // rejects fewer than one in 20
        const double x = normal_again<double>(s, i, 0, attempt), v = 1 + c * x, cube = v * v * v;
        const auto word = s.block(i, attempt + 1);
        if (v <= 0 || std::log(open_uniform(word, 0)) >= x * x / 2 + d - d * cube + d * std::log(cube)) continue;
        return boosted ? d * cube * std::pow(open_uniform(word, 2), 1 / shape) : d * cube;
    }
    return shape;
}

/// Returns the smallest positive normal (not subnormal) number of T.
template <class T> constexpr compute_type<T> least_normal() {
    return std::is_same_v<T, half> ? 0x1p-14f : std::numeric_limits<compute_type<T>>::min();
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Fills with gamma-distributed numbers. All are positive: at least the smallest normal number of T.
template <class T> void fill_gamma(index_t n, const random_stream& s, double shape, double rate, T* to) {
    using C = compute_type<T>;
    for (index_t i = 0; i < n; ++i)
        to[i] =
            static_cast<T>(std::max(static_cast<C>(detail::gamma_value(s, static_cast<std::uint64_t>(i), shape) / rate),
                                    detail::least_normal<T>()));
}

}}} // namespace rill::RILL_ABI::RILL_ISA
