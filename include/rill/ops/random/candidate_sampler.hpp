// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/expm1.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/log1p.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/random/random_op.hpp>

// Samplers of classes, for losses that evaluate a few classes instead of all.

namespace rill { inline namespace RILL_ABI {

enum class candidate_distribution : int { uniform, log_uniform, unigram };

/// Classes in [0, range_max), drawn from a distribution, and the number of draws. The weights of `unigram` are an input of float64. With
/// `unique`, a repeated class is drawn again. The host draws, since each draw depends on the earlier ones.
struct candidate_sampler_op {
    static constexpr auto name = "CandidateSampler";
    static constexpr int least_inputs = 0;
    using domain_type = type_set<std::int64_t>;
    using compiled_types = type_set<std::int64_t>;
    static constexpr auto no_gradient = "a class does not change smoothly";
    static constexpr bool stateful = true;
    index_t count = 0, range_max = 0, distribution = 0;
    bool unique = true;
    std::uint64_t seed = 0;

    static void fields(auto& op, auto& visit) {
        visit("num_sampled", op.count);
        visit("range_max", op.range_max);
        visit("distribution", op.distribution);
        visit("unique", op.unique);
        visit("seed", op.seed);
    }
    static input_list host_inputs() { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return dtype::int64; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([op = *this, counter = detail::random_counter_of(request), seed_here = request.seed,
                       space = request.space, weighted = !request.inputs.empty()](const kernel_args& a) {
            any_array ids(dtype::int64, dims{op.count});
            const double tries = op.draw(counter->next(seed_here), weighted ? a.in<double>(0) : nullptr,
                                         static_cast<std::int64_t*>(ids.mutable_data()));
            detail::copy_between(nullptr, ids.data(), space, a.out<std::int64_t>(0), dtype::int64, op.count);
            detail::copy_between(nullptr, &tries, space, a.out<double>(1), dtype::float64, 1);
        });
    }

private:
    /// Draws the classes, and returns the number of draws. Throws invalid_argument if the weights allow too few classes.
    double draw(const random_stream& random, const double* weights, std::int64_t* to) const;
};

struct candidate_options {
    index_t range_max = 0;  // classes are in [0, range_max); for unigrams, the number of weights
    bool unique = true;     // no class occurs twice
    std::uint64_t seed = 0; // 0: derived from the graph's seed and the node's name
};
struct unigram_options {
    bool unique = true;
    double distortion = 1; // each weight is raised to this power
    std::uint64_t seed = 0;
};

/// Sampled classes [s], and the expected counts of the true classes and of the sampled ones.
template <class Sampled, class True, class Counts> struct candidate_samples {
    Sampled sampled;
    True true_expected_count;
    Counts sampled_expected_count;
};

namespace detail {

/// Throws invalid_argument if a sampler can't draw the requested number of classes.
void check_candidates(const candidate_sampler_op& op, const std::source_location& where);
/// Returns the weights to the power of the distortion. Throws invalid_argument if a weight is invalid.
std::vector<double> distorted_unigrams(const std::vector<double>& unigrams, double distortion,
                                       const std::source_location& where);

/// Returns the samples of a sampler's node. p(ids) gives the probabilities of classes in float64.
template <element T, index_t Count, class P, class L>
auto candidate_samples_of(const any_tensor& made, const candidate_sampler_op& op, const L& labels, const P& p) {
    const tensor<std::int64_t, Count> ids(unchecked, made);
    const tensor<double> tries(unchecked, any_tensor(endpoint{made.node(), 1}));
    const auto expected = [&](const auto& of) {
        const auto each = sealed(p(of));
        const auto n = static_cast<double>(op.count);
        return sealed(cast<T>(select(equal(tries, n), n * each, -expm1(tries * log1p(-each)))));
    };
    return candidate_samples{ids, expected(labels), expected(ids)};
}

template <element T, index_t Count, class L, class P, class... W>
auto add_candidate_sampler(const candidate_sampler_op& op, const L& labels, const P& p,
                           const std::source_location& where, const W&... weights) {
    static_assert(are_ids<L>, "candidate samplers: the true classes must be int or std::int64_t");
    check_candidates(op, where);
    require_kernel_for<candidate_sampler_op, std::int64_t>();
    const auto classes = sealed(cast<std::int64_t>(labels));
    const graph_scope here(graph_of_operand(classes));
    return candidate_samples_of<T, Count>(any_tensor(add_op_node(make_op(op), 0, where, weights...)), op, classes, p);
}

template <element T, index_t Count, class L>
auto log_uniform_candidates(const L& labels, index_t count, const candidate_options& o,
                            const std::source_location& where) {
    const double all = std::log1p(static_cast<double>(o.range_max));
    const candidate_sampler_op op{count, o.range_max, static_cast<index_t>(candidate_distribution::log_uniform),
                                  o.unique, o.seed};
    return add_candidate_sampler<T, Count>(
        op, labels, [all](const auto& ids) { return log1p(1. / (cast<double>(ids) + 1.)) / all; }, where);
}

template <element T, index_t Count, class L>
auto uniform_candidates(const L& labels, index_t count, const candidate_options& o, const std::source_location& where) {
    const candidate_sampler_op op{count, o.range_max, static_cast<index_t>(candidate_distribution::uniform), o.unique,
                                  o.seed};
    const double each = 1 / static_cast<double>(std::max<index_t>(o.range_max, 1));
    return add_candidate_sampler<T, Count>(
        op, labels, [each](const auto& ids) { return cast<double>(ids) * 0. + each; }, where);
}

template <element T, index_t Count, class L>
auto unigram_candidates(const L& labels, index_t count, const std::vector<double>& unigrams, const unigram_options& o,
                        const std::source_location& where) {
    const auto weights = distorted_unigrams(unigrams, o.distortion, where);
    double sum = 0;
    for (const double w : weights) sum += w;
    const candidate_sampler_op op{count, static_cast<index_t>(weights.size()),
                                  static_cast<index_t>(candidate_distribution::unigram), o.unique, o.seed};
    const graph_scope here(graph_of_operand(labels));
    const auto of_classes = sealed(constant(weights, where));
    return add_candidate_sampler<T, Count>(
        op, labels, [&](const auto& ids) { return gather(of_classes, ids, where) / sum; }, where, of_classes);
}

} // namespace detail

/// Returns 64 classes, drawn anew in each run: log_uniform_candidate_sampler<64>(labels, {.range_max = 50000}). Class k has the probability
/// log((k + 2) / (k + 1)) / log(range_max + 1). This fits classes in the order of their frequency, such as words by Zipf's law. Returns the
/// classes in std::int64_t, and the expected counts of the true classes (of any shape) and of the sampled ones. No gradient flows.
template <index_t Count, element T = float, typed_operand L>
auto log_uniform_candidate_sampler(const L& labels, const candidate_options& o,
                                   const std::source_location& where = std::source_location::current()) {
    return detail::log_uniform_candidates<T, Count>(labels, Count, o, where);
}
/// Overload for a number of classes known only at run time.
template <element T = float, typed_operand L>
auto log_uniform_candidate_sampler(const L& labels, index_t count, const candidate_options& o,
                                   const std::source_location& where = std::source_location::current()) {
    return detail::log_uniform_candidates<T, dyn>(labels, count, o, where);
}

/// Draws each class with the same probability: uniform_candidate_sampler<64>(labels, {.range_max = 1000}).
template <index_t Count, element T = float, typed_operand L>
auto uniform_candidate_sampler(const L& labels, const candidate_options& o,
                               const std::source_location& where = std::source_location::current()) {
    return detail::uniform_candidates<T, Count>(labels, Count, o, where);
}
template <element T = float, typed_operand L>
auto uniform_candidate_sampler(const L& labels, index_t count, const candidate_options& o,
                               const std::source_location& where = std::source_location::current()) {
    return detail::uniform_candidates<T, dyn>(labels, count, o, where);
}

/// Draws each class with a probability proportional to its weight to the power of the distortion:
/// fixed_unigram_candidate_sampler<64>(labels, counts, {.distortion = 0.75}). Errors: negative weights, or fewer classes with a weight than
/// requested unique ones.
template <index_t Count, element T = float, typed_operand L>
auto fixed_unigram_candidate_sampler(const L& labels, const std::vector<double>& unigrams,
                                     const unigram_options& o = {},
                                     const std::source_location& where = std::source_location::current()) {
    return detail::unigram_candidates<T, Count>(labels, Count, unigrams, o, where);
}
template <element T = float, typed_operand L>
auto fixed_unigram_candidate_sampler(const L& labels, index_t count, const std::vector<double>& unigrams,
                                     const unigram_options& o = {},
                                     const std::source_location& where = std::source_location::current()) {
    return detail::unigram_candidates<T, dyn>(labels, count, unigrams, o, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> candidate_sampler_op::outputs(std::span<const tensor_type> in) const {
    const bool weighted = distribution == static_cast<index_t>(candidate_distribution::unigram);
    if (in.size() != (weighted ? 1u : 0u)) throw invalid_argument("the weights of unigrams are the only input");
    if (weighted && !rules::compatible(in[0].shape, dims{range_max}))
        throw invalid_argument("a weight for each of " + std::to_string(range_max) + " classes is expected, not " +
                               to_string(in[0]));
    if (weighted && in[0].type != dtype::float64) throw invalid_argument("the weights must be float64");
    if (count < 0 || range_max < 1) throw invalid_argument("the number of classes must be positive");
    return {{dtype::int64, {count}}, {dtype::float64, dims{}}};
}

RILL_INLINE double candidate_sampler_op::draw(const random_stream& random, const double* weights,
                                              std::int64_t* to) const {
    std::vector<double> sums;
    index_t possible = range_max;
    if (weights) {
        double sum = 0;
        possible = 0;
        for (index_t k = 0; k < range_max; ++k) {
            possible += sum + weights[k] > sum; // a weight below the rounding error of the sum is never drawn
            sums.push_back(sum += weights[k]);
        }
    }
    if (count > 0 && (unique ? possible < count : possible == 0))
        throw invalid_argument("of " + std::to_string(possible) + " classes with a weight, " + std::to_string(count) +
                               " can't be drawn");
    const double all = std::log1p(static_cast<double>(range_max));
    detail::hash_map<std::int64_t, bool> seen;
    constexpr std::uint64_t most_misses = std::uint64_t(1) << 28; // bounds the time to seconds
    std::uint64_t tries = 0, misses = 0;
    for (index_t i = 0; i < count; ++tries, ++misses) {
        if (misses == most_misses)
            throw invalid_argument("only " + std::to_string(i) + " of " + std::to_string(count) +
                                   " classes were found in " + std::to_string(tries) +
                                   " draws: the others are too improbable");
        const auto words = random.block(tries);
        const double u = static_cast<double>((words[0] | std::uint64_t(words[1]) << 32) >> 11) * 0x1p-53;
        index_t k = 0;
        if (weights)
            k = std::upper_bound(sums.begin(), sums.end(), u * sums.back()) - sums.begin();
        else if (distribution == static_cast<index_t>(candidate_distribution::log_uniform))
            k = static_cast<index_t>(std::exp(u * all)) - 1;
        else
            k = static_cast<index_t>(u * static_cast<double>(range_max));
        k = std::clamp<index_t>(k, 0, range_max - 1);
        if (weights && !(weights[k] > 0)) continue; // rounding has reached a position after the last class with a weight
        if (unique && !seen.try_emplace(k, true).is_new) continue;
        to[i++] = k;
        misses = 0;
    }
    return static_cast<double>(tries);
}

RILL_COLD void detail::check_candidates(const candidate_sampler_op& op, const std::source_location& where) {
    if (op.count < 0 || op.range_max < 1)
        throw invalid_argument("candidate sampler: range_max is " + std::to_string(op.range_max) +
                               ", and must be positive" + at_place(where));
    if (op.unique && op.count > op.range_max)
        throw invalid_argument("candidate sampler: " + std::to_string(op.count) + " different classes of " +
                               std::to_string(op.range_max) + " were asked for" + at_place(where));
}

RILL_COLD std::vector<double> detail::distorted_unigrams(const std::vector<double>& unigrams, double distortion,
                                                         const std::source_location& where) {
    std::vector<double> all;
    for (const double w : unigrams) {
        if (!(w >= 0) || !std::isfinite(w))
            throw invalid_argument("candidate sampler: the weight " + std::to_string(w) +
                                   " is negative, or not a finite number" + at_place(where));
        all.push_back(w > 0 ? std::pow(w, distortion) : 0);
    }
    return all;
}

}} // namespace rill::RILL_ABI
#endif
