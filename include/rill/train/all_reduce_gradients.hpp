// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include <rill/ops/collective/all_gather.hpp>
#include <rill/ops/collective/all_reduce.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/train/optimizer.hpp>

namespace rill { inline namespace RILL_ABI {

/// all_reduce_gradients(optimizer.compute_gradients(loss), group): the pairs with the means of their gradients over the ranks of a group, for
/// apply_gradients. Ranks that begin with equal variables keep equal ones, without a parameter server. Gradients by rows stay so: the rows of
/// all ranks. Gradients are float32 or float64.
template <std::same_as<gradient_and_variable> Pair>
std::vector<Pair> all_reduce_gradients(const std::vector<Pair>& pairs, const collective_group& group,
                                       const std::source_location& where = std::source_location::current()) {
    using untyped = decltype(Pair::gradient); // a type of the template: calls are compiled where this function is called
    const auto ranks = static_cast<float>(group.ranks());
    std::vector<Pair> means;
    for (const auto& p : pairs) {
        if (!p.gradient) continue;
        if (detail::is_rows(p.gradient.end())) {
            const auto rows = detail::rows_of(p.gradient.end()).flat();
            require_kernel<all_gather_op, std::int32_t>();
            require_kernel<all_gather_op, std::int64_t>();
            const untyped slices = all_gather(untyped(rows.slices), group, where) / ranks,
                          ids = all_gather(untyped(rows.ids), group, where);
            means.push_back({detail::gradient_rows{slices.end(), ids.end(), p.variable.end()}.whole(), p.variable});
        } else {
            means.push_back({any_tensor(all_reduce(p.gradient, group, where) / ranks), p.variable});
        }
    }
    return means;
}

}} // namespace rill::RILL_ABI
