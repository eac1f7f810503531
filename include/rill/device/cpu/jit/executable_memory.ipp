// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/jit/executable_memory.hpp>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#endif

namespace rill { inline namespace RILL_ABI { namespace detail {

// Each copy has its own mapping: pages that other threads execute must never become writable again.
RILL_COLD const void* make_executable([[maybe_unused]] std::span<const std::uint8_t> code) {
#if defined(__unix__) || defined(__APPLE__)
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    constexpr std::size_t before = 64; // checks of indirect calls (UBSan) may read the bytes before a function
    const std::size_t bytes = (before + code.size() + page - 1) / page * page;
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    void* const start = static_cast<std::byte*>(memory) + before;
    std::memcpy(start, code.data(), code.size());
    if (mprotect(memory, bytes, PROT_READ | PROT_EXEC) == 0) return start;
    munmap(memory, bytes);
#endif
    return nullptr;
}

}}} // namespace rill::RILL_ABI::detail
