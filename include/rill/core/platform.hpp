// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/config.hpp>

// The operating system interface: all platform-dependent code is here.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the number of processors that this process may use, within its affinity mask and container limits. At least 1.
int usable_processors();

/// Returns the size of physical memory in bytes; 0 if unknown.
std::size_t host_memory() noexcept;

/// Loads a shared library by its file name and never unloads it. Returns null if it is missing or the platform can't load
/// libraries. `shares_symbols` exports its functions to libraries that it loads itself, which Open MPI needs.
void* load_library(const char* file, bool shares_symbols = false) noexcept;

/// Returns the address of a function of a loaded library or of its dependencies; null if absent.
void* library_function(void* library, const char* name) noexcept;

/// Sets `to` to a function of a loaded library. Returns false if it is absent.
template <class F> bool load_function(void* library, const char* name, F*& to) {
    to = reinterpret_cast<F*>(library_function(library, name));
    return to != nullptr;
}

/// Advises the system to use large pages for a fresh block of tens of megabytes. With small pages, first touches would cost more
/// than filling the block (docs/benchmarks.md). Does nothing for smaller blocks.
void prefer_large_pages(void* block, std::size_t bytes) noexcept;

/// Returns 64 bits from the system's random source. Without one, the bits still differ between processes and calls.
std::uint64_t random_bits() noexcept;

/// Computes log(|gamma(x)|). Thread-safe, unlike std::lgamma, which may write the sign to a global.
float log_gamma(float x) noexcept;
double log_gamma(double x) noexcept;

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/platform.ipp>
#endif
