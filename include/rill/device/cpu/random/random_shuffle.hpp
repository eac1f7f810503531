// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <rill/core/any_array.hpp>
#include <rill/device/philox.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Writes a random permutation of 0 … n - 1. All permutations are equally likely.
RILL_HOST_DEVICE inline void shuffle_places(index_t n, const random_stream& s, index_t* places) {
    for (index_t i = 0; i < n; ++i) places[i] = i;
    for (index_t i = n - 1; i > 0; --i) {
        const auto word = s.block(static_cast<std::uint64_t>(i));
        const auto bits = word[0] | static_cast<std::uint64_t>(word[1]) << 32;
        // of 2^64 values; i is far smaller, so the bias of the remainder cannot be seen
        std::swap(places[i], places[bits % static_cast<std::uint64_t>(i + 1)]);
    }
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Copies rows of `inner` elements of type `of` in a random order. `places` is memory for `rows` indices.
inline void shuffle_rows(dtype of, const void* from, void* to, index_t rows, index_t inner, const random_stream& s,
                         index_t* places) {
    detail::shuffle_places(rows, s, places);
    const auto step = static_cast<std::size_t>(inner) * size_of(of);
    auto* row = static_cast<std::byte*>(to);
    for (index_t i = 0; i < rows; ++i, row += step)
        detail::copy_elements(of, static_cast<const std::byte*>(from) + static_cast<std::size_t>(places[i]) * step, row,
                              inner);
}

}}} // namespace rill::RILL_ABI::RILL_ISA
