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
    device_type cpu{"cpu", true};
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

namespace detail {

RILL_COLD void copy_between(const device_type& from_device, const void* from, const device_type& to_device, void* to,
                            dtype type, index_t n) {
    if (n == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(n) * size_of(type);
    if (from_device.host_memory && to_device.host_memory)
        copy_elements(type, from, to, n);
    else if (from_device.host_memory)
        to_device.to_device(from, to, bytes);
    else if (to_device.host_memory)
        from_device.to_host(from, to, bytes);
    else if (&from_device == &to_device)
        from_device.within(from, to, bytes);
    else {
        std::vector<std::byte> host(bytes);
        from_device.to_host(from, host.data(), bytes);
        to_device.to_device(host.data(), to, bytes);
    }
}

} // namespace detail

}} // namespace rill::RILL_ABI
