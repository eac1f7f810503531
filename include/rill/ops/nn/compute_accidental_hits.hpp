// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <tuple>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/array/indices.hpp>
#include <rill/ops/math/cast.hpp>

namespace rill { inline namespace RILL_ABI {

/// Finds the sampled classes [s] that are true classes of a row of [batch, n]. Returns their rows, their positions in the sample, and
/// weights of the lowest float. It runs in host memory, because data determine its output shapes.
struct compute_accidental_hits_op {
    static constexpr auto name = "ComputeAccidentalHits";
    static constexpr int inputs = 2;
    using domain_type = type_set<std::int64_t>;
    using compiled_types = type_set<std::int64_t>;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = "a class does not change smoothly";

    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([classes = request.inputs[0].shape, sampled = request.inputs[1].shape[0]](const kernel_args& a) {
            find(a.in<std::int64_t>(0), classes, a.in<std::int64_t>(1), sampled, a);
        });
    }

private:
    static void find(const std::int64_t* classes, const dims& shape, const std::int64_t* sampled, index_t count,
                     const kernel_args& a);
};

/// True if the true classes are [batch, n] and the sampled classes [s].
template <class E, class F> inline constexpr bool are_candidates = E::rank == 2 && F::rank == 1;

/// Finds sampled classes [s] that are true classes of a row [batch, n]: auto [rows, places, weights] =
/// compute_accidental_hits(true_classes, sampled). `rows` are int, and `places` in the sample are std::int64_t. `weights` are the lowest
/// float, to be added to the logits of these classes. No gradient flows.
template <typed_operand L, typed_operand S>
auto compute_accidental_hits(const L& true_classes, const S& sampled,
                             const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<L> && are_ids<S>, "compute_accidental_hits: the classes must be int or std::int64_t");
    static_assert(are_candidates<extents_of<L>, extents_of<S>>,
                  "compute_accidental_hits: true classes [batch, n] and sampled ones [s] are expected");
    const any_tensor made = apply_node(compute_accidental_hits_op{}, where, sealed(cast<std::int64_t>(true_classes)),
                                       sealed(cast<std::int64_t>(sampled)));
    const auto part = [&](int i) { return any_tensor(endpoint{made.node(), i}); };
    return std::tuple(tensor<std::int32_t, dyn>(detail::unchecked, part(0)),
                      tensor<std::int64_t, dyn>(detail::unchecked, part(1)),
                      tensor<float, dyn>(detail::unchecked, part(2)));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> compute_accidental_hits_op::outputs(std::span<const tensor_type> in) const {
    if ((in[0].shape.known_rank() && in[0].shape.rank != 2) || (in[1].shape.known_rank() && in[1].shape.rank != 1))
        throw invalid_argument("true classes [batch, n] and sampled ones [s] are expected");
    if (in[0].type != dtype::int64 || in[1].type != dtype::int64) throw invalid_argument("the classes must be int64");
    return {{dtype::int32, {dyn}}, {dtype::int64, {dyn}}, {dtype::float32, {dyn}}};
}

RILL_INLINE void compute_accidental_hits_op::find(const std::int64_t* classes, const dims& shape,
                                                  const std::int64_t* sampled, index_t count, const kernel_args& a) {
    detail::hash_map<std::int64_t, std::vector<std::int64_t>> places;
    for (index_t i = 0; i < count; ++i)
        places.try_emplace(sampled[i], std::vector<std::int64_t>()).at->second.push_back(i);
    std::vector<std::int32_t> rows;
    std::vector<std::int64_t> at;
    for (index_t i = 0; i < shape.size(); ++i)
        if (const auto* found = places.find(classes[i]); found != places.end())
            for (const std::int64_t place : found->second) {
                rows.push_back(static_cast<std::int32_t>(i / shape[1]));
                at.push_back(place);
            }
    const dims n{static_cast<index_t>(rows.size())};
    any_array of_rows(dtype::int32, n), of_places(dtype::int64, n), weights(dtype::float32, n);
    std::copy(rows.begin(), rows.end(), static_cast<std::int32_t*>(of_rows.mutable_data()));
    std::copy(at.begin(), at.end(), static_cast<std::int64_t*>(of_places.mutable_data()));
    std::fill_n(static_cast<float*>(weights.mutable_data()), rows.size(), std::numeric_limits<float>::lowest());
    a.sized[0] = std::move(of_rows);
    a.sized[1] = std::move(of_places);
    a.sized[2] = std::move(weights);
}

}} // namespace rill::RILL_ABI
#endif
