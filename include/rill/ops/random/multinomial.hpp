// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/math/argmax.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/random/random_uniform_like.hpp>

namespace rill { inline namespace RILL_ABI {

struct multinomial_options {
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};

/// A row of logits for each draw: [batch, classes], and there are classes.
template <class E> inline constexpr bool are_rows_of_logits = E::rank == 2 && rules::extent_along(E::value, 1) != 0;

/// multinomial<5>(logits): for each row of [batch, classes] 5 classes in int64, drawn anew in each run, class k with a probability
/// proportional to e^logit[k] (as the largest logit after noise of Gumbel's distribution). Shape: [batch, 5]. No gradient flows.
template <index_t Draws, graph_operand X>
auto multinomial(const X& logits, const multinomial_options& options = {},
                 const std::source_location& where = std::source_location::current()) {
    static_assert(Draws >= 0, "multinomial: the number of draws is negative");
    if constexpr (typed_operand<X>) {
        static_assert(are_rows_of_logits<extents_of<X>>, "multinomial: logits of [batch, classes] are expected");
        static_assert(is_real_floating<value_type_of<X>>, "multinomial: the logits must be floating");
    }
    const auto each = broadcast_to<dyn, Draws, dyn>(expand_dims<1>(logits, where), where);
    const auto uniform = random_uniform_like(each, {options.seed}, where);
    return argmax<2, std::int64_t>(each - log(-log(uniform)), where);
}

}} // namespace rill::RILL_ABI
