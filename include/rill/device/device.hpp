// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI {

/// A type of device: its memory, and functions that copy elements to and from it. Kernels register under its name.
struct device_type {
    std::string name;            // "cpu"
    bool host_memory = false;    // the host can read and write the device's memory
    allocator* memory = nullptr; // null: the session's allocator
    // Copies of n bytes, for a device with memory of its own.
    void (*to_device)(const void* host, void* device, std::size_t n) = nullptr;
    void (*to_host)(const void* device, void* host, std::size_t n) = nullptr;
    void (*within)(const void* from, void* to, std::size_t n) = nullptr;
    // The speed of one thread, for estimates alone: the time to start a step, and what it does in a microsecond.
    double start_microseconds = 0.05, flops_per_microsecond = 1e5, bytes_per_microsecond = 1e4;

    /// Returns the estimated time of so much arithmetic and memory traffic in one step, in microseconds.
    double microseconds(double flops, double bytes) const {
        return std::max(flops / flops_per_microsecond, start_microseconds + bytes / bytes_per_microsecond);
    }
};

/// Returns the CPU, which is always registered.
const device_type& cpu_device();

/// Registers a type of device, which must live until the process ends. Registering the same object again does nothing.
/// Throws already_exists if another device has that name.
void register_device(const device_type& type);

/// Returns the device of that name, or null.
const device_type* find_device(std::string_view name);

/// Returns all registered device types, the CPU first.
std::vector<const device_type*> known_devices();

/// Sets the device of nodes that request none; initially the CPU. Existing sessions keep their default device. Throws not_found.
void set_default_device(std::string_view name);
const device_type& default_device();

namespace detail {

/// Copies n elements between the memories of two devices. Two different devices with memory of their own copy through host memory.
void copy_between(const device_type& from_device, const void* from, const device_type& to_device, void* to, dtype type,
                  index_t n);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/device.ipp>
#endif
