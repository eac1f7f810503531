// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/stop_gradient.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> stop_gradient_op::outputs(std::span<const tensor_type> in) const {
    return {in[0]};
}

} // namespace rill::inline RILL_ABI
