// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The layout of one part within a concatenated tensor, to copy the part in or out.
struct concat_part {
    index_t begin = 0; // offset in the whole
    bool empty = false;
    strided_layout layout;
};

vector<concat_part> concat_parts(const dims& whole, std::span<const tensor_type> parts, int axis, bool out_of_whole);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE vector<concat_part> concat_parts(const dims& whole, std::span<const tensor_type> parts, int axis,
                                             bool out_of_whole) {
    const auto at = static_cast<std::size_t>(rules::normal_axis(axis, whole.rank));
    const auto wide = dense_strides(whole);
    vector<concat_part> all;
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

}}} // namespace rill::RILL_ABI::detail
#endif
