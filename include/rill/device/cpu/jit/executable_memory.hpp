// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a copy of machine code in executable memory, aligned to 64 bytes; null if the system denies such memory. The memory is never
/// writable and executable at once. It is never freed.
const void* make_executable(std::span<const std::uint8_t> code);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/executable_memory.ipp>
#endif
