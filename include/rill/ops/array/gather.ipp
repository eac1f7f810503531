// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/gather.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> gather_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[1].type, "the ids");
    const auto slices = rules::gather(in[0].shape, in[1].shape, axis);
    if (!slices.ok()) throw invalid_argument(slices.broken);
    return {{in[0].type, slices.shape}};
}

RILL_INLINE std::vector<endpoint> gather_op::gradient(const gradient_request& r) const {
    return {
        {detail::add_node(graph(*r.at.owner), make_op(gather_grad_op{axis}), {r.gradient(), r.input(1), r.input(0)}),
         0},
        {}};
}

RILL_INLINE std::vector<endpoint> gather_grad_op::gradient(const gradient_request& r) const {
    return {{detail::add_node(graph(*r.at.owner), make_op(gather_op{axis}), {r.gradient(), r.input(1)}), 0}, {}, {}};
}

} // namespace rill::inline RILL_ABI
