// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <rill/device/cpu/random/random_gamma.hpp>
#include <rill/device/cpu/random/random_poisson.hpp>
#include <rill/device/cpu/random/random_shuffle.hpp>
#include <rill/device/thrust/lines.hpp>

// Kernels for random numbers: one thread draws one element from its block of the stream, as the CPU does
// (cpu/random/random.hpp).

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns the 64 bits of half h of a block.
RILL_FN std::uint64_t half_of(const philox::block& b, std::size_t h) {
    return b[2 * h] | std::uint64_t(b[2 * h + 1]) << 32;
}

template <class T> struct uniform_element {
    const random_stream* stream;
    double from, end;
    T* to;

    RILL_FN void operator()(index_t i) const {
        const auto at = static_cast<std::uint64_t>(i);
        if constexpr (std::is_integral_v<T>) {
            using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
            const auto low = static_cast<std::uint64_t>(convert<wide>(from));
            const std::uint64_t width = static_cast<std::uint64_t>(convert<wide>(end)) - low;
            to[i] = static_cast<T>(low + upper_product(half_of(stream->block(at / 2), at % 2), width));
        } else if constexpr (std::is_same_v<T, double>) {
            const double u = half_open_uniform(half_of(stream->block(at / 2), at % 2));
            const double x = std::fma(u, end - from, from);
            to[i] = x < end ? x : from;
        } else {
            const auto low = static_cast<float>(static_cast<T>(static_cast<float>(from))),
                       high = static_cast<float>(static_cast<T>(static_cast<float>(end)));
            const double start = low, width = static_cast<double>(high) - start;
            const double u = half_open_uniform(stream->block(at / 4)[at % 4]);
            auto x = static_cast<float>(start + u * width);
            if (x >= high) x = low; // rounding reached the end
            if constexpr (!std::is_same_v<T, float>) x = rounded_down<T>(x);
            to[i] = static_cast<T>(x);
        }
    }
};

/// A function object that draws a normal number; a truncated one is redrawn while it is beyond two standard deviations.
template <class T, bool Truncated> struct normal_element {
    using C = compute_type<T>;
    const random_stream* stream;
    double mean, deviation;
    T* to;

    RILL_FN void operator()(index_t i) const {
        constexpr int each = normals_per_block<C>;
        const auto block = static_cast<std::uint64_t>(i / each);
        const auto place = static_cast<int>(i % each);
        C z = normal_again<C>(*stream, block, place, 0);
        if constexpr (Truncated)
            for (std::uint32_t attempt = 1; !(std::abs(z) <= C(2)); ++attempt)
                z = attempt < 256 ? normal_again<C>(*stream, block, place, attempt) : C(0);
        to[i] = static_cast<T>(static_cast<C>(mean) + static_cast<C>(deviation) * z);
    }
};

template <class T> struct gamma_element {
    using C = compute_type<T>;
    const random_stream* stream;
    double shape, rate;
    T* to;
    RILL_FN void operator()(index_t i) const {
        const auto drawn = static_cast<C>(gamma_value(*stream, static_cast<std::uint64_t>(i), shape) / rate);
        to[i] = static_cast<T>(std::max(drawn, least_normal<T>()));
    }
};

template <class T> struct poisson_element {
    const random_stream* stream;
    double rate;
    T* to;
    RILL_FN void operator()(index_t i) const {
        to[i] = convert<T>(poisson_value(*stream, static_cast<std::uint64_t>(i), rate));
    }
};

/// The logits of one row of a multinomial distribution.
template <class T> struct logit_row {
    using C = compute_type<T>;
    const T* logits;
    index_t classes;

    RILL_FN C largest() const {
        lane<C> most(-std::numeric_limits<C>::infinity());
        for (index_t k = 0; k < classes; ++k) most = max(most, lane<C>(static_cast<C>(logits[k])));
        return most.v;
    }
    /// Returns exp(logit - top), where `top` is the largest logit.
    RILL_FN double weight(index_t k, C top) const {
        const C x = static_cast<C>(logits[k]);
        const lane<C> shifted(x == top ? C(0) : x - top); // inf - inf would be NaN
        return static_cast<double>(compute<elementary::exp_function>(shifted).v);
    }
};

/// A function object that refuses a row without a class to draw.
template <class T> struct find_empty_row {
    const T* logits;
    index_t classes;
    RILL_FN refused_element operator()(index_t row) const {
        using C = compute_type<T>;
        const C top = logit_row<T>{logits + row * classes, classes}.largest();
        return top > -std::numeric_limits<C>::infinity() ? refused_element{} : refused_element::of(row, top);
    }
};

/// A function object that draws one class. It recomputes the running sums for each draw, in the same order.
template <class T> struct draw_class {
    const T* logits;
    index_t classes, draws;
    const random_stream* stream;
    std::int64_t* to;

    RILL_FN void operator()(index_t i) const {
        const logit_row<T> row{logits + i / draws * classes, classes};
        const auto top = row.largest();
        double sum = 0;
        index_t last = 0; // the last class that can be drawn
        for (index_t k = 0; k < classes; ++k) {
            const double more = sum + row.weight(k, top);
            if (more > sum) last = k;
            sum = more;
        }
        const auto at = static_cast<std::uint64_t>(i);
        const double drawn = half_open_uniform(half_of(stream->block(at / 2), at % 2)) * sum;
        double so_far = 0;
        index_t found = 0;
        for (; found < last; ++found) {
            so_far += row.weight(found, top);
            if (so_far > drawn) break;
        }
        to[i] = found;
    }
};

/// A function object that writes a random permutation, on one thread.
struct shuffle_order {
    index_t rows;
    const random_stream* stream;
    index_t* places;
    RILL_FN void operator()(index_t) const { shuffle_places(rows, *stream, places); }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
