// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/update_rows_op.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::vector<tensor_type> update_rows_outputs(std::span<const tensor_type> in, int slots, int numbers) {
    // checks all but the ids like the dense update
    std::vector<tensor_type> dense(in.begin(), in.end() - 1);
    const tensor_type slices = dense.back(), ids = in.back();
    dense.back() = in[0];
    const auto out = update_outputs(dense, slots, numbers);
    check_index_type(ids.type, "the ids");
    const auto wanted = rules::gather(in[0].shape, ids.shape, 0);
    if (!wanted.ok()) throw invalid_argument(wanted.reason());
    if (slices.type != in[0].type || !rules::compatible(wanted.shape, slices.shape))
        throw invalid_argument("the variable is " + to_string(in[0]) + ", the ids " + to_string(ids) + ", the slices " +
                               to_string(slices));
    return out;
}

}}} // namespace rill::RILL_ABI::detail
