// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include <rill/core/hash_map.hpp>
#include <rill/device/device.hpp>

namespace rill { inline namespace RILL_ABI {

/// The measured times of nodes, by name: the last nine of each. A session has one if its placer learns. Thread-safe.
class cost_record {
public:
    /// A measured time and the type of device that it was measured on.
    struct cost {
        double microseconds = 0;
        const device_type* on = nullptr;
    };

    /// Adds a time of a node. A time on another type of device replaces all earlier ones.
    void add(const std::string& node, const device_type& on, double microseconds);
    /// Returns the median of the last times of a node; nothing if there are none.
    std::optional<cost> of(const std::string& node) const;
    /// Returns true if no time has been added.
    bool empty() const noexcept { return is_empty_.load(std::memory_order_relaxed); }

private:
    static constexpr std::size_t most = 9;
    struct times {
        const device_type* on = nullptr;
        std::size_t count = 0; // number of all times; the last ones are kept in a ring
        std::array<double, most> last = {};
    };

    mutable std::mutex mutex_;
    detail::hash_map<std::string, times> all_;
    std::atomic<bool> is_empty_{true};
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/cost_record.ipp>
#endif
