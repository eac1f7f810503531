// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/transpose.hpp>

#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<endpoint> transpose_op::gradient(const gradient_request& r) const {
    transpose_op back;
    for (int i = 0; i < order.count; ++i) back.order.set(rules::normal_axis(order[i], order.count), i);
    back.order.count = order.count;
    return {{detail::add_node(graph(*r.at.owner), make_op(back), {r.gradient()}), 0}};
}

} // namespace rill::inline RILL_ABI
