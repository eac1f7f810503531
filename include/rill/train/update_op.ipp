// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/update_op.hpp>

#include <cstddef>
#include <string>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::vector<tensor_type> update_outputs(std::span<const tensor_type> in, int slots, int numbers) {
    const auto count = static_cast<std::size_t>(2 + slots + numbers);
    const auto check = [&](std::size_t i, const char* what) {
        if (in[i].type != in[0].type || !rules::compatible(in[0].shape, in[i].shape))
            throw invalid_argument("the variable is " + to_string(in[0]) + ", " + what + " (input " +
                                   std::to_string(i) + ") " + to_string(in[i]));
    };
    for (std::size_t i = 1; i <= static_cast<std::size_t>(slots); ++i) check(i, "its slot");
    check(count - 1, "its gradient");
    for (std::size_t i = 1 + static_cast<std::size_t>(slots); i + 1 < count; ++i)
        if (in[i].type != in[0].type || (in[i].shape.known_rank() && in[i].shape.rank != 0))
            throw invalid_argument("a number of the variable's dtype is expected as input " + std::to_string(i) +
                                   ", not " + to_string(in[i]));
    return {in[0]};
}

}}} // namespace rill::RILL_ABI::detail
