// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/argmax.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE std::vector<tensor_type> arg_extremum::outputs(std::span<const tensor_type> in) const {
    const auto reduced = rules::reduce(in[0].shape, axis_list{axis}, false);
    if (!reduced.ok()) throw invalid_argument("the axis is out of range");
    check_index_type(index, "the result");
    if (in[0].shape.complete() && reduced.shape.size() > 0 && axis_view(in[0].shape, axis).extent == 0)
        throw invalid_argument("nothing to choose from along the axis");
    return {{index, reduced.shape}};
}

} // namespace detail

} // namespace rill::inline RILL_ABI
