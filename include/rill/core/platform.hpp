// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/config.hpp>

// The one place where operating systems differ.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Processors that this process may use: all of the machine, or those its affinity mask or container leaves it. At least 1.
int usable_processors();

/// Returns the bytes of the machine's memory; 0 if the system does not tell.
std::size_t host_memory() noexcept;

/// A shared library by its file name: loaded if the system has it, and never unloaded. Null if it has not, or if programs here
/// can't load any. `shares_symbols`: libraries that it loads itself see its functions, which Open MPI needs.
void* load_library(const char* file, bool shares_symbols = false) noexcept;

/// The address of a function of a loaded library, or of one that it needs; null if there is none.
void* library_function(void* library, const char* name) noexcept;

/// Asks the system to back fresh memory by large pages, where it has them: of a block of tens of megabytes the first touch
/// of every small page costs more than filling it (docs/benchmarks.md). Of smaller blocks nothing is asked.
void prefer_large_pages(void* block, std::size_t bytes) noexcept;

/// Returns 64 bits from the system's source of random numbers; where there is none, bits that differ between processes and calls.
std::uint64_t random_bits() noexcept;

/// log(|gamma(x)|) on any number of threads: std::lgamma may write the sign to a global.
float log_gamma(float x) noexcept;
double log_gamma(double x) noexcept;

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/platform.ipp>
#endif
