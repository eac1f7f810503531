// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include <rill/device/cpu/jit/ir_instruction.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Terms of one sum that multiply the same values, in whatever order, become a multiple of that one of them which leaves the least to
/// compute: the gradient of x * x * x * c is 3 * (x * x * c), not three products. `needed` are values that are results; those that
/// are `whole` stay as they are, and count as one factor. New instructions come last, whoever reads them.
void join_like_terms(std::vector<ir_instruction>& code, const std::vector<int>& needed, const std::vector<int>& whole,
                     const std::function<int(float)>& constant);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/factor_common_terms.ipp>
#endif
