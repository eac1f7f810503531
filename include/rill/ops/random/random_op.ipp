// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/random/random_op.hpp>

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE std::vector<tensor_type> random_outputs(dtype type, const dims& shape) {
    if (!shape.complete()) throw invalid_argument("the shape " + to_string(shape) + " is not known");
    for (int i = 0; i < shape.rank; ++i)
        if (shape[i] < 0) throw invalid_argument("an extent is negative");
    return {{type, shape}};
}

RILL_INLINE std::vector<tensor_type> normal_numbers::outputs(std::span<const tensor_type>) const {
    if (!is_differentiable(type) || type == dtype::complex64 || type == dtype::complex128)
        throw invalid_argument("normal numbers of type " + std::string(to_string(type)));
    if (!std::isfinite(mean) || !std::isfinite(stddev) || stddev < 0)
        throw invalid_argument("mean and stddev must be finite, and stddev not negative");
    return random_outputs(type, to);
}

} // namespace detail

} // namespace rill::inline RILL_ABI
