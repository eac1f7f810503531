// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/core/device_name.hpp>
#include <rill/core/dtype.hpp>
#include <rill/core/memory_space.hpp>

namespace rill { inline namespace RILL_ABI {

struct fused_spec; // core/program.hpp

/// The memory of devices, and which of them a session sees. The first two fields are limits of the process: the last session that sets one
/// decides. The others are the session's. Devices that compute in the host's memory ignore the limits.
struct gpu_options {
    double memory_fraction = 0; // fraction of the device's memory; 0: as much as needed
    bool allow_growth = false;  // with a fraction: allocate on demand instead of all at once
    /// The physical devices that the session sees, by number; the first one is its device 0. Empty: as many as device_count says.
    std::vector<int> visible_devices = {};
    /// For each visible device, the bytes of the virtual devices on it: {{1 << 30, 1 << 30}} makes two of the first one. A device with an
    /// empty list, or behind the end of the list, stays whole. Sessions with equal limits share the memories.
    std::vector<std::vector<std::size_t>> virtual_devices = {};
    /// Lets steps that would not fit into the memory of a device copy values to host memory and back, while they do not need them. Results
    /// are the same; copies take time.
    bool swap_memory = false;
    /// Captures the kernels of a step as a CUDA graph when a step runs for the second time. Later runs start them all at once. Results are
    /// the same.
    bool cuda_graphs = true;

    /// Returns true if the session chooses its devices.
    bool choose_devices() const { return !visible_devices.empty() || !virtual_devices.empty(); }
};

/// A type of device. Kernels register under its name.
struct device_type {
    std::string name; // "cpu"
    /// The memory of each instance. Empty: all instances use the host's memory, and a session may have any number of them.
    std::vector<const memory_space*> spaces = {};
    // The speed of one thread, used only in estimates: the start-up time of a step, and its throughput per microsecond.
    double start_microseconds = 0.05, flops_per_microsecond = 1e5, bytes_per_microsecond = 1e4;

    /// True if its fused kernels read inputs and write outputs that are views of the host's memory (fusion_group::views).
    bool fuses_views = false;
    /// Returns true if the device has kernels for elements of a type. Nodes with others run on the CPU. Null: for all types.
    bool (*has_kernels_for)(dtype type) = nullptr;
    /// Returns true if the device can run a fused node. Others run on the CPU. Null: it can run all.
    bool (*can_run)(const device_type& type, const fused_spec& spec) = nullptr;
    /// Applies the limits that a session names to the memory of all instances; null if the type has no limits.
    void (*limit_memory)(const device_type& type, const gpu_options& options) = nullptr;
    /// Returns the memories of the devices that a session chooses, in the order of their numbers (visible_devices.hpp). Called if the options
    /// choose devices. Null: the type ignores such options.
    std::vector<const memory_space*> (*chosen_spaces)(const device_type& type, const gpu_options& options) = nullptr;

    /// Returns the estimated time in microseconds of one step with this arithmetic and memory traffic.
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

/// The way in which a session chooses devices for nodes that request none. `simple`: the default device. `by_cost`: a simulated run with
/// estimated costs, when the first plan with the node is compiled.
enum class placers : std::uint8_t { simple, by_cost };

/// The number of devices per type: {{"cpu", 4}}.
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
