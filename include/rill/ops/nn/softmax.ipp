// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/softmax.hpp>

#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE endpoint softmax_gradient(const endpoint& y, const endpoint& g) {
    return row_program({{y}, {g}, each_row(row_dot(g, y))}, false, [](tracer& t) {
        return row_op(t, "Mul", {t.leaf(0), row_op(t, "Sub", {t.leaf(1), t.leaf(2)})});
    });
}

} // namespace detail

RILL_INLINE std::vector<endpoint> softmax_op::gradient(const gradient_request& r) const {
    return {detail::softmax_gradient(r.output(0), r.gradient())};
}

} // namespace rill::inline RILL_ABI
