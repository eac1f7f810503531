// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/thrust/launch.hpp>

#include <deque>
#include <mutex>
#include <string>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_EXPORT RILL_COLD device_launchers& launchers_of(std::string_view device) {
    struct entry {
        std::string name;
        device_launchers launchers;
    };
    static std::mutex& mutex = *new std::mutex;
    static std::deque<entry>& all = *new std::deque<entry>;
    const std::lock_guard lock(mutex);
    for (auto& known : all)
        if (known.name == device) return known.launchers;
    all.emplace_back().name = device;
    return all.back().launchers;
}

}}} // namespace rill::RILL_ABI::detail
