// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/jit/code_cache.hpp>

#include <mutex>

#include <rill/core/hash_map.hpp>
#include <rill/device/cpu/jit/executable_memory.hpp>
#include <rill/device/cpu/jit/jit_limits.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD const void* cached_code(std::string key, const std::function<std::vector<std::uint8_t>()>& make) {
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new hash_map<std::string, const void*>;
    const std::lock_guard lock(mutex);
    if (const auto at = known.find(key); at != known.end()) return at->second;
    if (known.size() >= most_jit_programs) return nullptr;
    const auto bytes = make(); // an exception leaves the cache unchanged
    const void* const made = bytes.empty() ? nullptr : make_executable(bytes);
    known.try_emplace(std::move(key), made);
    return made;
}

}}} // namespace rill::RILL_ABI::detail
