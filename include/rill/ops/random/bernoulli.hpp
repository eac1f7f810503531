// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/random/random_uniform.hpp>

namespace rill { inline namespace RILL_ABI {

struct bernoulli_options {
    double p = 0.5;         // the probability of 1, or true
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

namespace detail {

/// Returns 1 where a uniform number of [0, 1) is below p. The number is a double: on the grid of float, p = 10^-7 would act as 1.2 × 10^-7.
template <class T, class Draw>
auto bernoulli(const bernoulli_options& options, const std::source_location& where, Draw uniform) {
    if (!(options.p >= 0 && options.p <= 1))
        throw invalid_argument("bernoulli: p is " + std::to_string(options.p) + ", and must lie between 0 and 1" +
                               at_place(where));
    return cast<T>(uniform(random_uniform_options{.seed = options.seed}) < options.p);
}

} // namespace detail

/// Returns 1 with probability p, else 0, drawn anew in each run: bernoulli<float, 3, 4>({.p = 0.3}). bernoulli<bool, …> gives bool.
template <element T, index_t... D>
auto bernoulli(const bernoulli_options& options = {},
               const std::source_location& where = std::source_location::current()) {
    return detail::bernoulli<T>(options, where, [&](const auto& o) { return random_uniform<double, D...>(o, where); });
}
/// Overload for a shape known only at run time: bernoulli<float>(dims{n, 4}).
template <element T>
any_tensor bernoulli(const dims& shape, const bernoulli_options& options = {},
                     const std::source_location& where = std::source_location::current()) {
    return detail::bernoulli<T>(options, where,
                                [&](const auto& o) { return random_uniform(dtype::float64, shape, o, where); });
}
/// Overload for a shape given by a tensor: bernoulli<float>(shape(x), {.p = 0.3}).
template <element T, graph_operand S>
auto bernoulli(const S& shape, const bernoulli_options& options = {},
               const std::source_location& where = std::source_location::current()) {
    return detail::bernoulli<T>(options, where, [&](const auto& o) { return random_uniform<double>(shape, o, where); });
}

}} // namespace rill::RILL_ABI
