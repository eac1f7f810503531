// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce_min.hpp>

#include <span>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> reduce_min_op::outputs(std::span<const tensor_type> in) const {
    return fused_op{spec}.outputs(in);
}

RILL_INLINE std::vector<endpoint> reduce_min_op::gradient(const gradient_request& r) const {
    return detail::extremum_gradient(spec, r);
}

} // namespace rill::inline RILL_ABI
