// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/strided_layout.hpp>

#include <cstddef>
#include <iterator>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void strided_layout::push(index_t e, index_t stride_from, index_t stride_to) {
    const auto at = static_cast<std::size_t>(rank++);
    extent[at] = e;
    from[at] = stride_from;
    to[at] = stride_to;
}

RILL_INLINE void strided_layout::collapse() {
    int n = 0;
    for (int i = 0; i < rank; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (extent[at] == 1) continue;
        const auto last = static_cast<std::size_t>(n - 1);
        if (n > 0 && from[last] == from[at] * extent[at] && to[last] == to[at] * extent[at]) {
            extent[last] *= extent[at];
            from[last] = from[at];
            to[last] = to[at];
        } else {
            const auto next = static_cast<std::size_t>(n++);
            extent[next] = extent[at];
            from[next] = from[at];
            to[next] = to[at];
        }
    }
    rank = n;
}

RILL_INLINE std::array<index_t, max_rank> dense_strides(const dims& shape) {
    std::array<index_t, max_rank> strides{};
    index_t step = 1;
    for (int i = shape.rank - 1; i >= 0; --i) {
        strides[i] = step;
        step *= shape[i];
    }
    return strides;
}

}}} // namespace rill::RILL_ABI::detail
