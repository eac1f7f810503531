// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/padded_tail.hpp>

#include <cstddef>
#include <cstring>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE void run_padded(block_function f, const block_args& a, std::int64_t done, int lanes,
                            std::span<const std::uint8_t> leaf_sizes, std::span<const std::uint8_t> result_sizes,
                            std::byte* memory) {
    const void* leaf[most_padded];
    void* result[most_padded];
    const auto first = static_cast<std::size_t>(done), all = static_cast<std::size_t>(lanes);
    const std::size_t rest = static_cast<std::size_t>(a.n) - first;
    for (std::size_t k = 0; k < leaf_sizes.size(); ++k) {
        const std::size_t size = leaf_sizes[k];
        std::memcpy(memory, static_cast<const std::byte*>(a.leaf[k]) + first * size, rest * size);
        for (std::size_t i = rest; i < all; ++i) std::memcpy(memory + i * size, memory + (rest - 1) * size, size);
        leaf[k] = memory;
        memory += all * size;
    }
    for (std::size_t k = 0; k < result_sizes.size(); ++k) {
        result[k] = a.result[k] ? memory : nullptr;
        memory += all * result_sizes[k];
    }
    f({leaf, a.scalar, result, a.mask, lanes});
    for (std::size_t k = 0; k < result_sizes.size(); ++k)
        if (result[k])
            std::memcpy(static_cast<std::byte*>(a.result[k]) + first * result_sizes[k], result[k], rest * result_sizes[k]);
}

} // namespace rill::inline RILL_ABI::detail
