// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/assign.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE std::vector<tensor_type> write_outputs(std::span<const tensor_type> in) {
    if (in[0].type != in[1].type || !rules::compatible(in[0].shape, in[1].shape))
        throw invalid_argument("the variable is " + to_string(in[0]) + ", the value " + to_string(in[1]));
    return {in[0]};
}

} // namespace detail

} // namespace rill::inline RILL_ABI
