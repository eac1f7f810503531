// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/platform.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#define RILL_DETAIL_DLOPEN 1
#include <dlfcn.h>
#include <unistd.h>
#else
#define RILL_DETAIL_DLOPEN 0
#endif
#if defined(__linux__)
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#endif

#include <rill/core/hash.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE int usable_processors() {
#if defined(__linux__)
    cpu_set_t set; // hardware_concurrency may ignore the affinity mask
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
    const unsigned all = std::thread::hardware_concurrency();
    return all == 0 ? 1 : static_cast<int>(all);
}

RILL_INLINE void* load_library([[maybe_unused]] const char* file, [[maybe_unused]] bool shares_symbols) noexcept {
#if RILL_DETAIL_DLOPEN
    return dlopen(file, RTLD_NOW | (shares_symbols ? RTLD_GLOBAL : RTLD_LOCAL));
#else
    return nullptr;
#endif
}

RILL_INLINE void* library_function([[maybe_unused]] void* library, [[maybe_unused]] const char* name) noexcept {
#if RILL_DETAIL_DLOPEN
    return dlsym(library, name);
#else
    return nullptr;
#endif
}

RILL_INLINE void prefer_large_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::size_t large = std::size_t(2) << 20;
    if (bytes < 4 * large) return;
    auto* const first =
        static_cast<std::byte*>(block) + (large - reinterpret_cast<std::uintptr_t>(block) % large) % large;
    const auto skipped = static_cast<std::size_t>(first - static_cast<std::byte*>(block));
    madvise(first, (bytes - skipped) / large * large,
            MADV_HUGEPAGE); // only a hint: failure leaves small pages
#endif
}

RILL_COLD std::size_t host_memory() noexcept {
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes) : 0;
#else
    return 0;
#endif
}

RILL_INLINE std::uint64_t random_bits() noexcept {
#if defined(__linux__)
    std::uint64_t bits;
    if (::getrandom(&bits, sizeof bits, 0) == sizeof bits) return bits;
#endif
    static std::atomic<std::uint64_t> calls{0};
    const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    // the address differs between processes where addresses are randomised
    return hash_combine(hash_combine(now, reinterpret_cast<std::uintptr_t>(&calls)), ++calls);
}

#if defined(__GLIBC__)
RILL_INLINE float log_gamma(float x) noexcept {
    int sign;
    return ::lgammaf_r(x, &sign);
}
RILL_INLINE double log_gamma(double x) noexcept {
    int sign;
    return ::lgamma_r(x, &sign);
}
#else
RILL_INLINE float log_gamma(float x) noexcept { return std::lgamma(x); }
RILL_INLINE double log_gamma(double x) noexcept { return std::lgamma(x); }
#endif

}}} // namespace rill::RILL_ABI::detail
