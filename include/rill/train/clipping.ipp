// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/clipping.hpp>

#include <rill/ops/array/gradient_rows.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE endpoint values_of_gradient(const endpoint& e) {
    const auto rows = rows_of(e);
    return rows ? rows.slices : e;
}

RILL_INLINE endpoint with_values(const endpoint& gradient, const endpoint& values) {
    auto rows = rows_of(gradient);
    if (!rows) return values;
    rows.slices = values;
    return rows.whole();
}

RILL_INLINE std::vector<any_tensor> tensors_of_norm(const std::vector<any_tensor>& tensors,
                                                    const std::source_location& where) {
    std::vector<any_tensor> all;
    for (const auto& t : tensors)
        if (t) all.emplace_back(values_of_gradient(t));
    if (all.empty()) throw invalid_argument("global_norm: no tensors were given" + at_place(where));
    return all;
}

RILL_INLINE std::vector<any_tensor> gradients_of(const std::vector<gradient_and_variable>& pairs) {
    std::vector<any_tensor> all;
    for (const auto& p : pairs) all.push_back(p.gradient);
    return all;
}

}}} // namespace rill::RILL_ABI::detail
