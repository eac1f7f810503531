// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/device_set.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Throws invalid_argument if a session can't have that many devices of the type.
inline void check_device_count(const std::string& name, int count) {
    const auto* type = find_device(name);
    if (!type) {
        std::string known;
        for (const auto* t : known_devices()) known += (known.empty() ? "" : ", ") + t->name;
        throw invalid_argument("device_count: there is no type of device '" + name + "' in this process, which has " +
                               known);
    }
    if (count < 1)
        throw invalid_argument("device_count: " + std::to_string(count) + " devices of type '" + name +
                               "' are requested; at least 1 is needed");
    if (!type->spaces.empty() && static_cast<std::size_t>(count) > type->spaces.size())
        throw invalid_argument("device_count: " + std::to_string(count) + " devices of type '" + name +
                               "' are requested, there are " + std::to_string(type->spaces.size()));
}

} // namespace detail

RILL_COLD device_set::device_set(const device_counts& counts, std::span<const device_name> tasks) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
        detail::check_device_count(counts[i].first, counts[i].second);
        for (std::size_t k = 0; k < i; ++k)
            if (counts[k].first == counts[i].first)
                throw invalid_argument("device_count: the type '" + counts[i].first + "' is named twice");
    }
    for (const auto& task : tasks)
        for (const auto* type : known_devices()) {
            const auto at = detail::find_if(counts, [&](const auto& c) { return c.first == type->name; });
            const int count = at == counts.end() ? 1 : at->second;
            for (int i = 0; i < count; ++i)
                devices_.push_back({type,
                                    i,
                                    type->spaces.empty() ? nullptr : type->spaces[static_cast<std::size_t>(i)],
                                    {task.job, task.replica, task.task, type->name, i}});
        }
    for (const auto& d : devices_) all_.push_back(&d);
}

RILL_COLD const device* device_set::find(const device_name& name) const {
    const auto has = [](int number, int asked) { return asked < 0 || asked == number; };
    const auto at = detail::find_if(all_, [&](const device* d) {
        const auto& is = d->full;
        return (name.job.empty() || name.job == is.job) && has(is.replica, name.replica) && has(is.task, name.task) &&
               (name.type.empty() || name.type == is.type) && has(is.index, name.index);
    });
    return at == all_.end() ? nullptr : *at;
}

RILL_COLD const device* device_set::first(const device_type& type) const {
    const auto at = detail::find_if(all_, [&](const device* d) { return d->type == &type; });
    return at == all_.end() ? nullptr : *at;
}

}} // namespace rill::RILL_ABI
