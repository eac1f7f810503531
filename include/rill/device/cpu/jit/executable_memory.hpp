// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A copy of machine code that can be run, at a multiple of 64 bytes, for as long as the process lives; null where the system
/// gives no such memory. It is never writable and executable at once.
const void* make_executable(std::span<const std::uint8_t> code);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/jit/executable_memory.ipp>
#endif
