// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/sync_replicas.hpp>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD round_traits checked_round(const sync_replicas_options& how, const std::source_location& where) {
    const round_traits traits{how.replicas_to_aggregate,
                              how.total_replicas == 0 ? how.replicas_to_aggregate : how.total_replicas,
                              how.order == sync_order::by_replica};
    try {
        traits.check();
    } catch (const invalid_argument& problem) {
        throw invalid_argument("sync_replicas: " + std::string(problem.what()) + at_place(where));
    }
    return traits;
}

RILL_COLD std::vector<device_group> grouped_by_device(const std::vector<gradient_and_variable>& pairs) {
    std::vector<device_group> all;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto& device = requested_device(*pairs[i].variable.node());
        const auto there = detail::find_if(all, [&](const device_group& g) { return g.device == device; });
        if (there == all.end())
            all.push_back({device, {i}});
        else
            there->pairs.push_back(i);
    }
    return all;
}

}}} // namespace rill::RILL_ABI::detail
