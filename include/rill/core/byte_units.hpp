// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace literals {

/// Converts a size to bytes: .memory = 8_GiB.
constexpr std::size_t operator""_KiB(unsigned long long n) { return static_cast<std::size_t>(n) << 10; }
constexpr std::size_t operator""_MiB(unsigned long long n) { return static_cast<std::size_t>(n) << 20; }
constexpr std::size_t operator""_GiB(unsigned long long n) { return static_cast<std::size_t>(n) << 30; }

}}} // namespace rill::RILL_ABI::literals
