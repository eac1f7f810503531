// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/indices.hpp>

#include <string>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE void check_index_type(dtype type, const char* what) {
    if (type != dtype::int32 && type != dtype::int64)
        throw invalid_argument(std::string(what) + " must be int32 or int64, not " + std::string(to_string(type)));
}

RILL_INLINE std::string position_of(index_t flat, const dims& shape) {
    dims at;
    at.rank = shape.rank;
    for (int i = shape.rank - 1; i >= 0; flat /= shape[i], --i) at[i] = flat % shape[i];
    return to_string(at);
}

RILL_INLINE axis_view::axis_view(const dims& shape, int axis) {
    const int at = rules::normal_axis(axis, shape.rank);
    for (int i = 0; i < shape.rank; ++i) (i < at ? outer : i == at ? extent : inner) *= shape[i];
}

} // namespace rill::inline RILL_ABI::detail
