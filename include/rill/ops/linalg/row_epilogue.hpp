// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include <rill/expr/node_op.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/relu.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The epilogue of a product that a fused node computes: it adds a row to each row, with an optional relu.
struct row_epilogue {
    bool rectified = false;
};

/// Returns the epilogue if a fused node adds the third operand to the product of the first two. Returns nullopt if it computes anything
/// else.
std::optional<row_epilogue> row_epilogue_of(const fused_spec& next, std::span<const tensor_type> in);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

template <class T> using sum_of_two = structure<add_op, T, leaf<T>, leaf<T>>;

RILL_INLINE std::optional<row_epilogue> row_epilogue_of(const fused_spec& next, std::span<const tensor_type> in) {
    const auto is_map = [](const auto& leaf) { return leaf.view == reduction(); };
    if (in.size() != 3 || next.results.size() != 1 || !(next.results[0] == fused_result()) ||
        !std::ranges::all_of(next.leaves, is_map))
        return std::nullopt;
    const auto& key = next.body->key;
    const bool sums = key == key_of<sum_of_two<float>>() || key == key_of<sum_of_two<double>>();
    const bool rectified = key == key_of<structure<relu_op, float, sum_of_two<float>>>() ||
                           key == key_of<structure<relu_op, double, sum_of_two<double>>>();
    if (!sums && !rectified) return std::nullopt;
    return row_epilogue{rectified};
}

}}} // namespace rill::RILL_ABI::detail
#endif
