// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/apply_gradient_descent.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> apply_gradient_descent_op::outputs(std::span<const tensor_type> in) const {
    if (in[2].type != in[0].type || !rules::compatible(in[0].shape, in[2].shape))
        throw invalid_argument("the variable is " + to_string(in[0]) + ", its gradient " + to_string(in[2]));
    return {in[0]};
}

} // namespace rill::inline RILL_ABI
