// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI {

/// A type of device as the runtime sees it: its memory, and how elements get there and back. Kernels are found by its name.
struct device_type {
    std::string name;            // "cpu"
    bool host_memory = false;    // the host reads and writes the memory as its own
    allocator* memory = nullptr; // null: the session's
    // n bytes; of a device with memory of its own
    void (*to_device)(const void* host, void* device, std::size_t n) = nullptr;
    void (*to_host)(const void* device, void* host, std::size_t n) = nullptr;
    void (*within)(const void* from, void* to, std::size_t n) = nullptr;
};

/// The processor itself: always there.
const device_type& cpu_device();

/// Makes a type of device known to the process; it must live as long as that. Registering it again is nothing new.
void register_device(const device_type& type);

/// Null if there is none of that name.
const device_type* find_device(std::string_view name);

/// All types, the CPU first.
std::vector<const device_type*> known_devices();

/// Where nodes run that ask for no device; the CPU at first. Sessions keep to what it was when they were made. Throws not_found.
void set_default_device(std::string_view name);
const device_type& default_device();

namespace detail {

/// Copies n elements between the memories of two devices; of two with memories of their own, through the host's.
void copy_between(const device_type& from_device, const void* from, const device_type& to_device, void* to, dtype type,
                  index_t n);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/device.ipp>
#endif
