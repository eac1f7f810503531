// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/apply_adam.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> apply_adam_op::outputs(std::span<const tensor_type> in) const {
    for (const int i : {1, 2, 6})
        if (in[static_cast<std::size_t>(i)].type != in[0].type ||
            !rules::compatible(in[0].shape, in[static_cast<std::size_t>(i)].shape))
            throw invalid_argument("the variable is " + to_string(in[0]) + ", input " + std::to_string(i) + " " +
                                   to_string(in[static_cast<std::size_t>(i)]));
    return {in[0]};
}

} // namespace rill::inline RILL_ABI
