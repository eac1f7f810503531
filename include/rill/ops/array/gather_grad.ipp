// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather_grad.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> gather_grad_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the ids");
    const auto slices = rules::gather(in[2].shape, in[1].shape, axis);
    if (!slices.ok()) throw invalid_argument(slices.broken);
    if (!rules::compatible(in[0].shape, slices.shape))
        throw invalid_argument("the slices don't fit the table and the ids");
    return {{in[0].type, in[2].shape}};
}

} // namespace rill::inline RILL_ABI
