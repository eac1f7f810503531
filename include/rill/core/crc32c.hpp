// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Computes the CRC-32C checksum of files and messages (Castagnoli's polynomial, as in iSCSI and ext4), continuing from `before`. Uses the
/// processor's instruction for it where there is one.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

/// Computes the same by tables, on any processor.
std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before = 0);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/crc32c.ipp>
#endif
