// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <rill/ops/collective/all_gather.hpp>
#include <rill/ops/collective/all_reduce.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The maximal size of a bundle of gradients that one all-reduce transfers, in bytes.
inline constexpr index_t most_bundled = index_t(4) << 20;

/// Returns the indices of the pairs that have a gradient, in bundles that one all-reduce transfers. A bundle holds dense gradients of one
/// type and of known shapes, up to most_bundled bytes. Each other gradient is a bundle of its own.
std::vector<std::vector<std::size_t>> gradient_bundles(const std::vector<gradient_and_variable>& pairs);
/// Returns the name under which ranks compare a bundle: "gradient of 'w'", "gradients of 'w' and 3 more".
std::string name_of_bundle(const std::vector<gradient_and_variable>& pairs, const std::vector<std::size_t>& bundle);

/// Returns the sums of the gradients of a bundle over the ranks of a group.
template <class T>
std::vector<any_tensor> summed_bundle(const std::vector<gradient_and_variable>& pairs,
                                      const std::vector<std::size_t>& bundle, const collective_group& group,
                                      const std::source_location& where) {
    const auto name = name_of_bundle(pairs, bundle);
    if (bundle.size() == 1) return {all_reduced<T>(pairs[bundle[0]].gradient, group, where, name)};
    std::vector<tensor<T, dyn>> flat;
    for (const auto i : bundle) {
        const auto& g = pairs[i].gradient;
        flat.push_back({unchecked, reshape(g, dims{type_of(g.end()).shape.size()}, where)});
    }
    const tensor<T, dyn> sum(unchecked, all_reduced<T>(any_tensor(concat(flat, 0, where)), group, where, name));
    std::vector<any_tensor> sums;
    index_t at = 0;
    for (const auto i : bundle) {
        const auto& shape = type_of(pairs[i].gradient.end()).shape;
        const tensor<T, dyn> part = sum(slice_range{at, at + shape.size()});
        sums.push_back(reshape(any_tensor(part), shape, where));
        at += shape.size();
    }
    return sums;
}

} // namespace detail

/// Returns the pairs with the means of their gradients over the ranks of a group, for apply_gradients:
/// all_reduce_gradients(optimizer.compute_gradients(loss), group). Ranks that begin with equal variables keep equal ones, without a
/// parameter server. Small gradients are transferred together. Gradients by rows stay by rows: the result has the rows of all ranks.
/// Gradients are float32 or float64.
template <std::same_as<gradient_and_variable> Pair>
std::vector<Pair> all_reduce_gradients(const std::vector<Pair>& pairs, const collective_group& group,
                                       const std::source_location& where = std::source_location::current()) {
    using untyped = decltype(Pair::gradient); // dependent: calls are compiled where this function is called
    const auto ranks = static_cast<float>(group.ranks());
    std::vector<Pair> means(pairs.size());
    for (const auto& bundle : detail::gradient_bundles(pairs)) {
        const auto& first = pairs[bundle[0]];
        if (detail::is_rows(first.gradient.end())) {
            const auto rows = detail::rows_of(first.gradient.end()).flat();
            require_kernel<all_gather_op, std::int32_t>();
            require_kernel<all_gather_op, std::int64_t>();
            const untyped slices = all_gather(untyped(rows.slices), group, where) / ranks,
                          ids = all_gather(untyped(rows.ids), group, where);
            means[bundle[0]] = {detail::gradient_rows{slices.end(), ids.end(), first.variable.end()}.whole(),
                                first.variable};
            continue;
        }
        const std::vector<untyped> sums = untyped(first.gradient).dtype() == dtype::float64
                                              ? detail::summed_bundle<double>(pairs, bundle, group, where)
                                              : detail::summed_bundle<float>(pairs, bundle, group, where);
        for (std::size_t k = 0; k < bundle.size(); ++k)
            means[bundle[k]] = {any_tensor(sums[k] / ranks), pairs[bundle[k]].variable};
    }
    std::erase_if(means, [](const Pair& p) { return !p.gradient; });
    return means;
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/all_reduce_gradients.ipp>
#endif
