// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/nn/log_softmax.hpp>

#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<endpoint> log_softmax_op::gradient(const gradient_request& r) const {
    using detail::row_op;
    const endpoint g = r.gradient();
    return {detail::row_program({{g}, {r.output(0)}, detail::each_row(detail::row_sum(g))}, false, [](tracer& t) {
        return row_op(t, "Sub", {t.leaf(0), row_op(t, "Mul", {row_op(t, "Exp", {t.leaf(1)}), t.leaf(2)})});
    })};
}

} // namespace rill::inline RILL_ABI
