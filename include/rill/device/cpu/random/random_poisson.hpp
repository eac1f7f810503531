// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/random/random_gamma.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns element i of a Poisson distribution. For a rate below 10, it adds up probabilities until they reach a uniform number.
/// Otherwise it uses transformed rejection (PTRS, Hörmann 1993), with one block per attempt.
RILL_HOST_DEVICE inline double poisson_value(const random_stream& s, std::uint64_t i, double rate) {
    if (rate < 10) {
        const double u = open_uniform(s.block(i), 0);
        double k = 0, p = std::exp(-rate), sum = p;
        while (u > sum) {
            p *= rate / ++k;
            if (k > rate && sum + p == sum) break; // the rounded probabilities may add up to less than u
            sum += p;
        }
        return k;
    }
    const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = std::log(rate),
                 log_inverse_alpha = std::log(1.1239 + 1.1328 / (b - 3.4)), squeeze = 0.9277 - 3.6224 / (b - 2);
    for (std::uint32_t attempt = 0; attempt < 256; ++attempt) {
        const auto word = s.block(i, attempt);
        const double u = open_uniform(word, 0) - 0.5, v = open_uniform(word, 2), us = 0.5 - std::abs(u);
        const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= squeeze) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (std::log(v) + log_inverse_alpha - std::log(a / (us * us) + b) <=
            k * log_rate - rate - elementary::log_gamma_function::scalar(k + 1))
            return k;
    }
    return std::floor(rate);
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Fills with Poisson-distributed counts of events at a rate.
template <class T> void fill_poisson(index_t n, const random_stream& s, double rate, T* to) {
    for (index_t i = 0; i < n; ++i)
        to[i] = detail::convert<T>(detail::poisson_value(s, static_cast<std::uint64_t>(i), rate));
}

}}} // namespace rill::RILL_ABI::RILL_ISA
