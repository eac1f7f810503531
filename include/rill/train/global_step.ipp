// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/global_step.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD any_tensor find_global_step(const graph& g) {
    const auto all = g.collection(collections::global_step);
    if (all.empty()) return {};
    if (all.size() > 1) throw invalid_argument("global_step: the graph has " + std::to_string(all.size()) + " of them");
    if (const auto& type = type_of(all[0]); type.type != dtype::int64 || type.shape != dims{})
        throw invalid_argument("global_step: '" + name_of(all[0]) + "' is " + to_string(type) +
                               ", not an int64 of rank 0");
    return any_tensor(all[0]);
}

} // namespace detail

RILL_COLD std::int64_t global_step_of(const session& s) {
    const auto counter = detail::find_global_step(s.graph());
    if (!counter) return 0;
    const any_array value = detail::core_of(s)->variable_value(counter.node());
    return value.empty() ? 0 : value.value<std::int64_t>();
}

}} // namespace rill::RILL_ABI
