// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/device_set.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

#include <rill/core/algorithm.hpp>
#include <rill/core/error.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns a registered type of device. Throws invalid_argument if there is none.
inline const device_type& type_for_count(const std::string& name) {
    if (const auto* type = find_device(name)) return *type;
    std::string known;
    for (const auto* t : known_devices()) known += (known.empty() ? "" : ", ") + t->name;
    throw invalid_argument("device_count: there is no type of device '" + name + "' in this process, which has " +
                           known);
}

/// Throws invalid_argument if a session can't have that many devices of the type. `spaces`: the memories of its devices; empty: all use the
/// host's.
inline void check_device_count(const device_type& type, int count, const std::vector<const memory_space*>& spaces) {
    if (count < 1)
        throw invalid_argument("device_count: " + std::to_string(count) + " devices of type '" + type.name +
                               "' are requested; at least 1 is needed");
    if (!spaces.empty() && static_cast<std::size_t>(count) > spaces.size())
        throw invalid_argument("device_count: " + std::to_string(count) + " devices of type '" + type.name +
                               "' are requested, there are " + std::to_string(spaces.size()));
}

} // namespace detail

RILL_COLD device_set::device_set(const device_counts& counts, std::span<const device_name> tasks,
                                 const gpu_options& gpu) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
        detail::type_for_count(counts[i].first);
        for (std::size_t k = 0; k < i; ++k)
            if (counts[k].first == counts[i].first)
                throw invalid_argument("device_count: the type '" + counts[i].first + "' is named twice");
    }
    const auto types = known_devices();
    detail::vector<std::vector<const memory_space*>> spaces; // per type: of its devices
    detail::vector<int> numbers;                             // per type: how many devices the session has
    for (const auto* type : types) {
        const bool is_chosen = type->chosen_spaces && gpu.choose_devices();
        spaces.push_back(is_chosen ? type->chosen_spaces(*type, gpu) : type->spaces);
        const auto at = detail::find_if(counts, [&](const auto& c) { return c.first == type->name; });
        const int count = at != counts.end() ? at->second : is_chosen ? static_cast<int>(spaces.back().size()) : 1;
        detail::check_device_count(*type, count, spaces.back());
        numbers.push_back(count);
    }
    for (const auto& task : tasks)
        for (std::size_t t = 0; t < types.size(); ++t)
            for (int i = 0; i < numbers[t]; ++i)
                devices_.push_back({types[t],
                                    i,
                                    spaces[t].empty() ? nullptr : spaces[t][static_cast<std::size_t>(i)],
                                    {task.job, task.replica, task.task, types[t]->name, i}});
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
