// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <rill/device/device.hpp>

namespace rill { inline namespace RILL_ABI {

/// A device as a session's options choose it: a physical device, or a virtual one on it.
struct visible_device {
    std::size_t physical = 0; // number of the physical device in the process
    int part = -1;            // number of the virtual device among those of the physical one; -1: the whole device
    std::size_t limit = 0;    // bytes of a virtual device

    /// Returns its name in messages: "gpu:0", "virtual device 1 of gpu:0".
    std::string name(const std::string& type) const;
};

/// Returns the devices that the options choose among the physical devices of a type. `bytes` has the memory of each; 0: unknown. Throws
/// invalid_argument if a device is named that does not exist, or twice. Throws it also if there are more lists of limits than visible
/// devices, if limits exceed the memory, and if they come with a memory_fraction.
std::vector<visible_device> visible_devices(const std::string& type, const gpu_options& options,
                                            std::span<const std::size_t> bytes);

/// The memories of virtual devices. Each one is made when a session first chooses it, and lives until the process ends. Sessions with equal
/// limits share it.
class virtual_memories {
public:
    using make_function = const memory_space* (*)(const visible_device&);

    /// `make` makes the memory of a virtual device.
    explicit virtual_memories(make_function make) : make_(make) {}
    virtual_memories(const virtual_memories&) = delete;

    const memory_space* of(const visible_device& d);
    /// Returns the memories of the devices that the options choose of a type. `whole`: those of the physical devices; null is the host's, whose
    /// size is unknown.
    std::vector<const memory_space*> spaces(const std::string& type, const gpu_options& options,
                                            std::span<const memory_space* const> whole);

private:
    const make_function make_;
    std::mutex mutex_;
    std::map<std::tuple<std::size_t, int, std::size_t>, const memory_space*> made_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/visible_devices.ipp>
#endif
