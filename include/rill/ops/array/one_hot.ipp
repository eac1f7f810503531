// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/one_hot.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> one_hot_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[0].type, "the ids");
    if (depth < 0) throw invalid_argument("the depth is negative");
    const auto deeper = rules::insert_axis(in[0].shape, -1, depth);
    if (!deeper.ok()) throw invalid_argument(deeper.broken);
    return {{values.dtype(), deeper.shape}};
}

} // namespace rill::inline RILL_ABI
