// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/random/random_uniform.hpp>

namespace rill { inline namespace RILL_ABI {

struct bernoulli_options {
    double p = 0.5;         // of an element that is 1, or true
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// bernoulli<float, 3, 4>({.p = 0.3}): 1 with probability p, else 0, drawn anew in each run; bernoulli<bool, …> gives bool.
template <element T, index_t... D>
auto bernoulli(const bernoulli_options& options = {},
               const std::source_location& where = std::source_location::current()) {
    if (!(options.p >= 0 && options.p <= 1)) throw invalid_argument("bernoulli: p must lie between 0 and 1");
    return cast<T>(random_uniform<float, D...>({.seed = options.seed}, where) < static_cast<float>(options.p));
}

}} // namespace rill::RILL_ABI
