// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reshape_like.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> reshape_like_op::outputs(std::span<const tensor_type> in) const {
    if (!rules::sizes_compatible(in[0].shape, in[1].shape)) throw invalid_argument("the sizes differ");
    return {{in[0].type, in[1].shape}};
}

RILL_INLINE std::vector<endpoint> reshape_like_op::gradient(const gradient_request& r) const {
    return {{detail::add_node(graph(*r.at.owner), make_op(reshape_like_op{}), {r.gradient(), r.input(0)}), 0}, {}};
}

} // namespace rill::inline RILL_ABI
