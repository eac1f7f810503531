// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/visible_devices.hpp>

#include <algorithm>

#include <rill/core/error.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the numbers of the visible physical devices, in the session's order.
inline vector<std::size_t> visible_numbers(const std::string& type, const gpu_options& options, std::size_t count) {
    vector<std::size_t> numbers;
    if (options.visible_devices.empty())
        for (std::size_t i = 0; i < count; ++i) numbers.push_back(i);
    for (const int i : options.visible_devices) {
        const auto number = static_cast<std::size_t>(i);
        if (i < 0 || number >= count)
            throw invalid_argument("gpu.visible_devices: device " + std::to_string(i) + " of type '" + type +
                                   "' is requested; there are " + std::to_string(count) + ", numbered from 0");
        if (std::find(numbers.begin(), numbers.end(), number) != numbers.end())
            throw invalid_argument("gpu.visible_devices: device " + std::to_string(i) + " is named twice");
        numbers.push_back(number);
    }
    return numbers;
}

/// Throws invalid_argument if a device with this memory can't hold virtual devices with these limits.
inline void check_limits(const std::string& whole, const std::vector<std::size_t>& limits, std::size_t bytes) {
    std::size_t left = bytes;
    bool fits = true;
    for (std::size_t k = 0; k < limits.size(); ++k) {
        if (limits[k] == 0)
            throw invalid_argument("gpu.virtual_devices: virtual device " + std::to_string(k) + " of " + whole +
                                   " has a limit of 0 bytes; at least 1 is needed");
        fits = fits && limits[k] <= left;
        left -= std::min(left, limits[k]);
    }
    if (fits || bytes == 0) return;
    std::string sum;
    for (const std::size_t limit : limits) sum += (sum.empty() ? "" : " + ") + std::to_string(limit);
    throw invalid_argument("gpu.virtual_devices: " + sum + " bytes are requested on " + whole + ", which has " +
                           std::to_string(bytes));
}

} // namespace detail

RILL_COLD std::string visible_device::name(const std::string& type) const {
    const std::string whole = type + ":" + std::to_string(physical);
    return part < 0 ? whole : "virtual device " + std::to_string(part) + " of " + whole;
}

RILL_COLD std::vector<visible_device> visible_devices(const std::string& type, const gpu_options& options,
                                                      std::span<const std::size_t> bytes) {
    const auto numbers = detail::visible_numbers(type, options, bytes.size());
    const auto& all_limits = options.virtual_devices;
    if (all_limits.size() > numbers.size())
        throw invalid_argument("gpu.virtual_devices has limits for " + std::to_string(all_limits.size()) +
                               " devices of type '" + type + "', " + std::to_string(numbers.size()) + " are visible");
    if (!all_limits.empty() && options.memory_fraction > 0)
        throw invalid_argument("gpu.memory_fraction is " + std::to_string(options.memory_fraction) +
                               ", and gpu.virtual_devices have limits of their own; name one of the two");
    std::vector<visible_device> all;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const visible_device whole{numbers[i]};
        if (i >= all_limits.size() || all_limits[i].empty()) {
            all.push_back(whole);
            continue;
        }
        detail::check_limits(whole.name(type), all_limits[i], bytes[numbers[i]]);
        for (std::size_t k = 0; k < all_limits[i].size(); ++k)
            all.push_back({numbers[i], static_cast<int>(k), all_limits[i][k]});
    }
    return all;
}

RILL_COLD const memory_space* virtual_memories::of(const visible_device& d) {
    const std::lock_guard lock(mutex_);
    auto& space = made_[{d.physical, d.part, d.limit}];
    if (!space) space = make_(d);
    return space;
}

RILL_COLD std::vector<const memory_space*> virtual_memories::spaces(const std::string& type, const gpu_options& options,
                                                                    std::span<const memory_space* const> whole) {
    std::vector<std::size_t> bytes;
    for (const auto* space : whole) bytes.push_back(space ? space->bytes : 0);
    std::vector<const memory_space*> all;
    for (const auto& d : visible_devices(type, options, bytes)) all.push_back(d.part < 0 ? whole[d.physical] : of(d));
    return all;
}

}} // namespace rill::RILL_ABI
