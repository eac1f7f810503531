// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/nn/sparse_softmax_cross_entropy.hpp>

namespace rill { inline namespace RILL_ABI {

/// True for logits [batch, time, classes], targets and weights [batch, time].
template <class Logits, class Targets, class Weights>
inline constexpr bool are_sequence_targets = Logits::rank == 3 && Targets::rank == 2 && Weights::rank == 2;

namespace detail {

template <class L, class Y, class W>
auto weighted_cross_entropies(const L& logits, const Y& targets, const W& weights, const std::source_location& where) {
    static_assert(are_sequence_targets<extents_of<L>, extents_of<Y>, extents_of<W>>,
                  "sequence_loss: logits [batch, time, classes], targets and weights [batch, time] are expected");
    return sealed(sparse_softmax_cross_entropy(logits, targets, where) * weights);
}

} // namespace detail

/// Returns the weighted mean cross entropy of the steps of a batch: sequence_loss(logits, targets,
/// cast<float>(sequence_mask<20>(lengths))). Logits are [batch, time, classes]. Targets are classes, [batch, time]. Weights are [batch,
/// time], and 0 after the end of a sequence.
template <typed_operand L, typed_operand Y, typed_operand W>
auto sequence_loss(const L& logits, const Y& targets, const W& weights,
                   const std::source_location& where = std::source_location::current()) {
    const auto w = sealed(weights);
    return sealed(reduce_sum(detail::weighted_cross_entropies(logits, targets, w, where), where) /
                  (reduce_sum(w, where) + 1e-12));
}

/// Returns the weighted mean cross entropy of each sequence [batch], for the operands of sequence_loss. It is the logarithm of the
/// sequence's perplexity.
template <typed_operand L, typed_operand Y, typed_operand W>
auto sequence_loss_by_example(const L& logits, const Y& targets, const W& weights,
                              const std::source_location& where = std::source_location::current()) {
    const auto w = sealed(weights);
    return sealed(reduce_sum<1>(detail::weighted_cross_entropies(logits, targets, w, where), where) /
                  (reduce_sum<1>(w, where) + 1e-12));
}

}} // namespace rill::RILL_ABI
