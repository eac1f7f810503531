// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/device.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

struct device_table {
    std::mutex mutex;
    device_type cpu{.name = "cpu", .fuses_views = true};
    std::vector<const device_type*> all{&cpu};
    std::atomic<const device_type*> by_default{&cpu};
};

/// Returns the table of devices. It is leaked on purpose: kernels may run while statics are destroyed.
RILL_EXPORT RILL_COLD device_table& the_devices() {
    static device_table& table = *new device_table;
    return table;
}

} // namespace detail

RILL_COLD const device_type& cpu_device() { return detail::the_devices().cpu; }

RILL_COLD void register_device(const device_type& type) {
    auto& table = detail::the_devices();
    const std::lock_guard lock(table.mutex);
    for (const auto* known : table.all) {
        if (known == &type) return;
        if (known->name == type.name) throw already_exists("device '" + type.name + "' is known already");
    }
    table.all.push_back(&type);
}

RILL_COLD const device_type* find_device(std::string_view name) {
    auto& table = detail::the_devices();
    const std::lock_guard lock(table.mutex);
    const auto at = detail::find_if(table.all, [&](const auto* d) { return d->name == name; });
    return at == table.all.end() ? nullptr : *at;
}

RILL_COLD std::vector<const device_type*> known_devices() {
    auto& table = detail::the_devices();
    const std::lock_guard lock(table.mutex);
    return table.all;
}

RILL_COLD void set_default_device(std::string_view name) {
    const auto* found = find_device(name);
    if (!found) throw not_found("set_default_device: there is no device '" + std::string(name) + "' in this process");
    detail::the_devices().by_default = found;
}

RILL_COLD const device_type& default_device() { return *detail::the_devices().by_default.load(); }

}} // namespace rill::RILL_ABI
