// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/place.hpp>

#include <rill/graph/device_name.hpp>

namespace rill::inline RILL_ABI {

RILL_INLINE void place(const subgraph& g, bool soft,
                       const std::function<void(const node&, const std::string&)>& report) {
    const device_name cpu{"localhost", 0, 0, "cpu", 0};
    for (const auto& it : g.items) {
        if (!it.origin) continue;
        const node* asks = it.origin;
        while (asks->colocated) asks = asks->colocated; // made earlier: the walk ends
        if (!asks->device.empty()) {
            const auto d = parse_device(asks->device);
            const bool here = (d.job.empty() || d.job == cpu.job) && d.replica <= 0 && d.task <= 0;
            const bool is_cpu = d.type.empty() || (d.type == "cpu" && d.index <= 0);
            if (!here || (!is_cpu && !soft))
                throw invalid_argument("placement: '" + it.origin->name + "' (" + std::string(it.op->name()) +
                                       ", made at " + to_string(it.origin->where) + ") asks for device '" +
                                       asks->device + "'; this session has " + to_string(cpu) +
                                       (here ? " (allow_soft_placement would run it there)" : ""));
        }
        if (report) report(*it.origin, to_string(cpu));
    }
}

} // namespace rill::inline RILL_ABI
