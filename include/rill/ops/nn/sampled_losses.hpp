// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <utility>

#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/sequence_lengths.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/reduce_any.hpp>
#include <rill/ops/math/reduce_logsumexp.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/nn/embedding_lookup.hpp>
#include <rill/ops/nn/sigmoid_cross_entropy.hpp>
#include <rill/ops/random/candidate_sampler.hpp>

// Losses over a sample of classes, for classifiers with many classes. They are for training only. An evaluation should
// compute all logits.

namespace rill { inline namespace RILL_ABI {

struct nce_options {
    bool remove_accidental_hits = false; // ignores sampled classes that are true classes
    std::uint64_t seed = 0;              // seed of the sampler; 0: derived from the graph's seed and the node's name
};
struct sampled_softmax_options {
    bool remove_accidental_hits = true;
    std::uint64_t seed = 0;
};

/// True for weights [classes, width], biases [classes], labels [batch] or [batch, n], and inputs [batch, width].
template <class W, class B, class L, class X>
inline constexpr bool are_sampled_loss_operands =
    W::rank == 2 && B::rank == 1 && (L::rank == 1 || L::rank == 2) && X::rank == 2;

namespace detail {

/// Returns the number of classes. Throws invalid_argument if it is unknown.
index_t known_classes(const char* loss, const tensor_type& weights, const std::source_location& where);

/// Returns labels [batch] or [batch, n] as [batch, n].
template <class L> auto with_row_axis(const L& labels, const std::source_location& where) {
    if constexpr (extents_of<L>::rank == 1)
        return expand_dims<1>(labels, where);
    else
        return sealed(labels);
}

/// Returns the logits of the true classes [batch, n] and of the sampled classes [batch, s]. The logarithms of the expected
/// counts are subtracted.
template <class W, class B, class L, class X, class... S>
auto sampled_logits(const W& weights, const B& biases, const L& labels, const X& inputs,
                    const candidate_samples<S...>& samples, bool remove_hits, const std::source_location& where) {
    const auto x = sealed(inputs);
    const auto rows = with_row_axis(cast<std::int64_t>(labels), where);
    const auto true_weights = embedding_lookup(weights, rows, where);
    const auto sampled_weights = embedding_lookup(weights, samples.sampled, where);
    const tensor of_true = reduce_sum<2>(expand_dims<1>(x, where) * true_weights, where) +
                           embedding_lookup(biases, rows, where) -
                           log(with_row_axis(samples.true_expected_count, where));
    const tensor of_sampled = matmul(x, transpose(sampled_weights), where) +
                              embedding_lookup(biases, samples.sampled, where) - log(samples.sampled_expected_count);
    using logits = std::remove_const_t<decltype(of_sampled)>;
    if (!remove_hits) return std::pair(of_true, of_sampled);
    const auto hits = rill::reduce_any<1>(equal(expand_dims<2>(rows, where), samples.sampled), where); // [batch, s]
    const auto lowest = std::numeric_limits<value_type_of<W>>::lowest();
    return std::pair(of_true, logits(unchecked, any_tensor(sealed(select(hits, lowest, of_sampled)))));
}

template <class W, class B, class L, class X> constexpr void check_sampled_loss() {
    static_assert(are_sampled_loss_operands<extents_of<W>, extents_of<B>, extents_of<L>, extents_of<X>>,
                  "sampled losses: weights [classes, width], biases [classes], labels [batch] or [batch, n] and inputs "
                  "[batch, width] are expected");
    static_assert(are_ids<L>, "sampled losses: the labels must be int or std::int64_t");
}

} // namespace detail

/// Computes the noise-contrastive estimation loss: nce_loss(weights, biases, labels, inputs, samples). A logit x w + b predicts whether a
/// class is true. True classes are [batch] or [batch, n]; sampled classes count as false. The loss [batch] is the sum of the sigmoid cross
/// entropies. Each of n true classes has the label 1 / n. `samples` come from a candidate sampler. Gradients flow to weights (by rows),
/// biases and inputs.
template <typed_operand W, typed_operand B, typed_operand L, typed_operand X, class... S>
auto nce_loss(const W& weights, const B& biases, const L& labels, const X& inputs,
              const candidate_samples<S...>& samples, const nce_options& o = {},
              const std::source_location& where = std::source_location::current()) {
    detail::check_sampled_loss<W, B, L, X>();
    using T = value_type_of<W>;
    const auto [of_true, of_sampled] =
        detail::sampled_logits(weights, biases, labels, inputs, samples, o.remove_accidental_hits, where);
    const tensor<T> share = 1 / cast<T>(detail::extent_of<1>(of_true, where));
    return sealed(reduce_sum<1>(sigmoid_cross_entropy(of_true, share), where) +
                  reduce_sum<1>(sigmoid_cross_entropy(of_sampled, T(0)), where));
}
/// Computes the loss with 64 distinct classes from log_uniform_candidate_sampler: nce_loss<64>(weights, biases, labels,
/// inputs).
template <index_t Count, typed_operand W, typed_operand B, typed_operand L, typed_operand X>
auto nce_loss(const W& weights, const B& biases, const L& labels, const X& inputs, const nce_options& o = {},
              const std::source_location& where = std::source_location::current()) {
    const auto samples = log_uniform_candidate_sampler<Count, value_type_of<W>>(
        labels, {.range_max = detail::known_classes("nce_loss", detail::operand_type(weights), where), .seed = o.seed},
        where);
    return nce_loss(weights, biases, labels, inputs, samples, o, where);
}

/// Computes the softmax cross entropy [batch] over the true and the sampled classes: sampled_softmax_loss(weights, biases, labels, inputs,
/// samples). Arguments, shapes and gradients are those of nce_loss.
template <typed_operand W, typed_operand B, typed_operand L, typed_operand X, class... S>
auto sampled_softmax_loss(const W& weights, const B& biases, const L& labels, const X& inputs,
                          const candidate_samples<S...>& samples, const sampled_softmax_options& o = {},
                          const std::source_location& where = std::source_location::current()) {
    detail::check_sampled_loss<W, B, L, X>();
    const auto [of_true, of_sampled] =
        detail::sampled_logits(weights, biases, labels, inputs, samples, o.remove_accidental_hits, where);
    // The labels, 1 / n for each of n true classes, sum to 1.
    return sealed(reduce_logsumexp<1>(concat<1>(of_true, of_sampled, where), where) - reduce_mean<1>(of_true, where));
}
/// Computes the loss with 64 distinct classes from log_uniform_candidate_sampler: sampled_softmax_loss<64>(weights,
/// biases, labels, inputs).
template <index_t Count, typed_operand W, typed_operand B, typed_operand L, typed_operand X>
auto sampled_softmax_loss(const W& weights, const B& biases, const L& labels, const X& inputs,
                          const sampled_softmax_options& o = {},
                          const std::source_location& where = std::source_location::current()) {
    const auto samples = log_uniform_candidate_sampler<Count, value_type_of<W>>(
        labels,
        {.range_max = detail::known_classes("sampled_softmax_loss", detail::operand_type(weights), where),
         .seed = o.seed},
        where);
    return sampled_softmax_loss(weights, biases, labels, inputs, samples, o, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE index_t detail::known_classes(const char* loss, const tensor_type& weights,
                                          const std::source_location& where) {
    const index_t classes = rules::extent_along(weights.shape, 0);
    if (classes == dyn)
        throw invalid_argument(std::string(loss) + ": the number of classes must be known; weights of " +
                               to_string(weights) + " were given" + at_place(where));
    return classes;
}

}} // namespace rill::RILL_ABI
#endif
