// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fusion/padded_tail.hpp>

#include <cstddef>
#include <cstring>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Repeats the last element up to `all` elements. The size is a constant: a memcpy call per element would cost more than the kernel.
template <std::size_t Size> void repeat_last(std::byte* memory, std::size_t rest, std::size_t all) {
    std::byte last[Size];
    std::memcpy(last, memory + (rest - 1) * Size, Size);
    for (std::size_t i = rest; i < all; ++i) std::memcpy(memory + i * Size, last, Size);
}
inline void repeat_last(std::byte* memory, std::size_t size, std::size_t rest, std::size_t all) {
    switch (size) {
    case 1: return repeat_last<1>(memory, rest, all);
    case 2: return repeat_last<2>(memory, rest, all);
    case 4: return repeat_last<4>(memory, rest, all);
    case 8: return repeat_last<8>(memory, rest, all);
    default:
        for (std::size_t i = rest; i < all; ++i) std::memcpy(memory + i * size, memory + (rest - 1) * size, size);
    }
}

/// Returns true if a result overlaps a leaf in memory.
inline bool writes_leaves(const block_args& a, std::span<const std::uint8_t> leaf_sizes,
                          std::span<const std::uint8_t> result_sizes) {
    const auto n = static_cast<std::size_t>(a.n);
    const auto before = [](const void* x, std::size_t bytes, const void* y) {
        return reinterpret_cast<std::uintptr_t>(x) + bytes <= reinterpret_cast<std::uintptr_t>(y);
    };
    for (std::size_t r = 0; r < result_sizes.size(); ++r)
        for (std::size_t k = 0; a.result[r] && k < leaf_sizes.size(); ++k)
            if (!before(a.leaf[k], n * leaf_sizes[k], a.result[r]) &&
                !before(a.result[r], n * result_sizes[r], a.leaf[k]))
                return true;
    return false;
}

RILL_INLINE void run_padded(block_function f, const block_args& a, std::int64_t done, int lanes,
                            std::span<const std::uint8_t> leaf_sizes, std::span<const std::uint8_t> result_sizes,
                            std::byte* memory) {
    const void* leaf[most_padded];
    void* result[most_padded];
    const auto first = static_cast<std::size_t>(done), all = static_cast<std::size_t>(lanes);
    const std::size_t rest = static_cast<std::size_t>(a.n) - first;
    if (done >= lanes && !writes_leaves(a, leaf_sizes, result_sizes)) {
        // Recomputing some elements costs less than copying.
        const std::size_t from = static_cast<std::size_t>(a.n) - all;
        for (std::size_t k = 0; k < leaf_sizes.size(); ++k)
            leaf[k] = static_cast<const std::byte*>(a.leaf[k]) + from * leaf_sizes[k];
        for (std::size_t k = 0; k < result_sizes.size(); ++k)
            result[k] = a.result[k] ? static_cast<std::byte*>(a.result[k]) + from * result_sizes[k] : nullptr;
        return f({leaf, a.scalar, result, a.mask, lanes});
    }
    for (std::size_t k = 0; k < leaf_sizes.size(); ++k) {
        const std::size_t size = leaf_sizes[k];
        std::size_t same = 0; // pads a tensor once that the expression reads several times
        while (a.leaf[same] != a.leaf[k] || leaf_sizes[same] != size) ++same;
        if (same < k) {
            leaf[k] = leaf[same];
            continue;
        }
        std::memcpy(memory, static_cast<const std::byte*>(a.leaf[k]) + first * size, rest * size);
        repeat_last(memory, size, rest, all);
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
            std::memcpy(static_cast<std::byte*>(a.result[k]) + first * result_sizes[k], result[k],
                        rest * result_sizes[k]);
}

}}} // namespace rill::RILL_ABI::detail
