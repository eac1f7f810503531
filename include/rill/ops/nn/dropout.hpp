// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/greater_equal.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/random/random_uniform_like.hpp>

namespace rill { inline namespace RILL_ABI {

struct dropout_options {
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

namespace detail {

void check_rate(double rate);

template <class R> auto checked_rate(const R& rate) {
    if constexpr (std::is_arithmetic_v<R>) {
        const auto number = static_cast<double>(rate);
        check_rate(number);
        return number;
    } else {
        return rate;
    }
}

} // namespace detail

/// The rate of a dropout is one number.
template <class R> inline constexpr bool is_one_number = std::is_arithmetic_v<R> || extents_of<R>::rank == 0;

/// dropout(x, 0.5, {.seed = 7}): each element is 0 with a probability of `rate`, else x / (1 - rate), so that the mean stays
/// (TensorFlow 1.x takes keep_prob, which is 1 - rate). The rate is a number in [0, 1), or a scalar tensor, which can be fed: 0
/// gives x itself. Each run draws anew. Shape: that of x. Gradient: by the same draw, g / (1 - rate) or 0.
template <graph_operand X, class R>
    requires(graph_operand<R> || std::is_arithmetic_v<R>)
auto dropout(const X& x, const R& rate, const dropout_options& options = {},
             const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>) {
        static_assert(is_real_floating<value_type_of<X>>, "dropout: the element type is not floating");
        if constexpr (typed_operand<R>)
            static_assert(dtypes_agree<dtype_tag<X>, dtype_tag<R>>,
                          "dropout: the dtypes of tensor and rate differ; convert with cast<T>()");
    }
    if constexpr (typed_operand<R>) static_assert(is_one_number<R>, "dropout: the rate must be one number");
    const auto drop = detail::checked_rate(rate);
    const auto value = sealed(x); // read by two nodes
    const auto noise = random_uniform_like(value, {options.seed}, where);
    return select(noise >= drop, value / (1 - drop), 0);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE void detail::check_rate(double rate) {
    if (rate >= 0 && rate < 1) return;
    throw invalid_argument("dropout: the rate is " + std::to_string(rate) + ", and must lie in [0, 1)");
}

}} // namespace rill::RILL_ABI
#endif
