// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include <rill/device/cpu/jit/ir_instruction.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Joins the terms of a sum that multiply the same values in any order. One term remains, multiplied by their number. The gradient of `x
/// * x * x * c` becomes `3 * (x * x * c)` instead of three products. The remaining term is the one with the fewest instructions. `needed`
/// lists the values that are results. Values in `whole` are not changed and count as one factor. `constant` adds a constant. New
/// instructions are appended, so operands may come after their readers.
void factor_common_terms(std::vector<ir_instruction>& code, const std::vector<int>& needed,
                         const std::vector<int>& whole, const std::function<int(double)>& constant);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/factor_common_terms.ipp>
#endif
