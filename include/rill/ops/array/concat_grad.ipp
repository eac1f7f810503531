// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/concat_grad.hpp>

#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE std::vector<concat_part> concat_parts(const dims& whole, std::span<const tensor_type> parts, int axis,
                                                  bool out_of_whole) {
    const auto at = static_cast<std::size_t>(rules::normal_axis(axis, whole.rank));
    const auto wide = dense_strides(whole);
    std::vector<concat_part> all;
    index_t begin = 0;
    for (const auto& p : parts) {
        const auto own = dense_strides(p.shape);
        concat_part c{begin, p.shape.size() == 0, {}};
        for (std::size_t i = 0; i < static_cast<std::size_t>(whole.rank); ++i)
            c.layout.push(p.shape.extent[i], (out_of_whole ? wide : own)[i], (out_of_whole ? own : wide)[i]);
        c.layout.collapse();
        all.push_back(c);
        begin += p.shape.extent[at] * wide[at];
    }
    return all;
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> concat_grad_op::outputs(std::span<const tensor_type> in) const {
    std::vector<tensor_type> out;
    shape_result whole{in[1].shape};
    for (std::size_t i = 1; i < in.size(); ++i) {
        if (i > 1) whole = rules::concat(whole.shape, in[i].shape, axis);
        if (!whole.ok()) throw invalid_argument(whole.broken);
        out.push_back({in[0].type, in[i].shape});
    }
    if (!rules::compatible(in[0].shape, whole.shape)) throw invalid_argument("the parts don't make up the whole");
    return out;
}

} // namespace rill::inline RILL_ABI
