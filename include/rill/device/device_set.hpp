// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/device/device.hpp>

namespace rill { inline namespace RILL_ABI {

/// The devices of a session. It must outlive all references to them.
class device_set {
public:
    /// Makes `counts` devices of the named types, and one of every other registered type, or as many as `gpu` chooses. `task` gives the
    /// job, replica and task of their names. Throws invalid_argument if a type is not registered or named twice. Throws it also if a number
    /// is below 1 or above the number of the type's memories, and if `gpu` chooses devices that do not exist.
    explicit device_set(const device_counts& counts = {}, const device_name& task = {"localhost", 0, 0, "", -1},
                        const gpu_options& gpu = {})
        : device_set(counts, std::span(&task, 1), gpu) {}
    /// Makes this many devices for each of several tasks.
    device_set(const device_counts& counts, std::span<const device_name> tasks, const gpu_options& gpu = {});
    device_set(const device_set&) = delete;
    device_set& operator=(const device_set&) = delete;

    /// Returns the first device that matches all given parts of the name; null if there is none.
    const device* find(const device_name& name) const;
    /// Returns the first device of a type; null if the type was registered after this set was made.
    const device* first(const device_type& type) const;
    /// Returns the first CPU.
    const device& cpu() const { return *all_.front(); }
    /// Returns all devices, ordered by task, type and index, the CPUs of a task first.
    std::span<const device* const> all() const { return all_; }

private:
    std::vector<device> devices_;
    std::vector<const device*> all_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/device_set.ipp>
#endif
