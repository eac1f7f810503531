// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/core/device_name.hpp>
#include <rill/core/memory_space.hpp>

namespace rill { inline namespace RILL_ABI {

/// Limits of the memory of devices, for a process: the last session that names one decides.
struct gpu_options {
    double memory_fraction = 0; // of the device's whole memory; 0: as much as is needed
    bool allow_growth = false;  // with a fraction: take memory as it is needed, rather than all at once
};

/// A type of device. Kernels register under its name.
struct device_type {
    std::string name; // "cpu"
    /// The memory of each instance. Empty: all instances use the host's memory, and a session may have any number of them.
    std::vector<const memory_space*> spaces = {};
    // The speed of one thread, for estimates alone: the time to start a step, and what it does in a microsecond.
    double start_microseconds = 0.05, flops_per_microsecond = 1e5, bytes_per_microsecond = 1e4;

    /// Applies the limits that a session names to the memory of all instances; null if the type has no limits.
    void (*limit_memory)(const device_type& type, const gpu_options& options) = nullptr;

    /// Returns the estimated time of so much arithmetic and memory traffic in one step, in microseconds.
    double microseconds(double flops, double bytes) const {
        return std::max(flops / flops_per_microsecond, start_microseconds + bytes / bytes_per_microsecond);
    }
};

/// An instance of a device type, as a session sees it.
struct device {
    const device_type* type = nullptr;
    int index = 0;
    const memory_space* space = nullptr; // its memory; null: the host's
    device_name full = {};               // "/job:localhost/replica:0/task:0/device:cpu:0"
};

/// How a session chooses the devices of nodes that request none. `simple`: the default device. `by_cost`: a simulated run over estimated
/// costs, when the first plan with the node is compiled.
enum class placers : std::uint8_t { simple, by_cost };

/// Numbers of devices by type: {{"cpu", 4}}.
using device_counts = std::vector<std::pair<std::string, int>>;

/// Returns the CPU, which is always registered.
const device_type& cpu_device();

/// Registers a type of device, which must live until the process ends. Registering the same object again does nothing.
/// Throws already_exists if another device has that name.
void register_device(const device_type& type);

/// Returns the device type of that name, or null.
const device_type* find_device(std::string_view name);

/// Returns all registered device types, the CPU first.
std::vector<const device_type*> known_devices();

/// Sets the type of device for nodes that request none; initially the CPU. They run on its first instance. Existing sessions keep their
/// default device. Throws not_found.
void set_default_device(std::string_view name);
const device_type& default_device();

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/device.ipp>
#endif
