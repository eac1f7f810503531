// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <rill/device/cpu/fusion/reducers.hpp>
#include <rill/device/cpu/random/random.hpp>
#include <rill/device/primitives.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Computes the running sums of exp(logit - top) in double, where `top` is the largest logit.
/// If `top` is +inf, each logit of +inf contributes 1 and each finite logit 0.
template <class T> void running_probabilities(const T* logits, index_t classes, compute_type<T> top, double* sums) {
    using C = compute_type<T>;
    using V = pack<C, lanes_for<C>>;
    constexpr index_t lanes = lanes_for<C>;
    C shifted[lanes];
    double sum = 0;
    for (index_t first = 0; first < classes; first += lanes) {
        const index_t here = std::min(lanes, classes - first);
        for (index_t k = 0; k < lanes; ++k) {
            const C x = k < here ? static_cast<C>(logits[first + k]) : top;
            shifted[k] = x == top ? C(0) : x - top; // inf - inf would be NaN
        }
        compute<elementary::exp_function>(V::load(shifted)).store(shifted);
        for (index_t k = 0; k < here; ++k) sums[first + k] = sum += static_cast<double>(shifted[k]);
    }
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Draws classes from the rows of logits [rows, classes], by binary search in the running sums of their probabilities.
/// `scratch` holds `classes` doubles. A class of probability 0 adds nothing to the sum, so the search never finds it.
/// Draw i, counted over all rows, uses half of random block i / 2. Returns the first row that has no class to draw, with its
/// largest logit: NaN if it contains a NaN, else -inf.
template <class T>
refused_element draw_classes(const T* logits, index_t rows, index_t classes, index_t draws, const random_stream& s,
                             std::int64_t* to, double* scratch) {
    using C = compute_type<T>;
    if (draws == 0) return {};
    for (index_t row = 0; row < rows; ++row, logits += classes) {
        T most = max_combine::identity<T>();
        detail::combine_fold<max_combine, T>(&most, logits, classes);
        const auto top = static_cast<C>(most);
        if (!(top > -std::numeric_limits<C>::infinity())) return refused_element::of(row, top);
        detail::running_probabilities(logits, classes, top, scratch);
        const double sum = scratch[classes - 1];
        const index_t last = std::lower_bound(scratch, scratch + classes, sum) - scratch; // last that can be drawn
        for (index_t i = row * draws; i < (row + 1) * draws; ++i) {
            const auto word = s.block(static_cast<std::uint64_t>(i / 2));
            const auto half = static_cast<std::size_t>(i % 2 * 2);
            const double at = detail::half_open_uniform(word[half] | std::uint64_t(word[half + 1]) << 32) * sum;
            const index_t found = std::upper_bound(scratch, scratch + classes, at) - scratch;
            to[i] = std::min(found, last); // rounding may make `at` equal to the sum
        }
    }
    return {};
}

}}} // namespace rill::RILL_ABI::RILL_ISA
