// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <rill/device/cpu/fusion/reducers.hpp>
#include <rill/device/strided_layout.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Copies one layout into the other, from dimension `dim` on.
template <class T> void strided_copy(const T* from, T* to, const strided_layout& l, int dim) {
    const auto at = static_cast<std::size_t>(dim);
    if (dim == l.rank) {
        *to = *from;
        return;
    }
    if (dim == l.rank - 1) {
        const index_t n = l.extent[at], sf = l.from[at], st = l.to[at];
        if (sf == 1 && st == 1)
            std::copy_n(from, n, to);
        else
            for (index_t i = 0; i < n; ++i) to[i * st] = from[i * sf];
        return;
    }
    if (dim == l.rank - 2 && l.from[at] == 1 && l.to[at + 1] == 1) {
        // Transpose in tiles, so that both sides stay within a few cache lines.
        constexpr index_t tile = 16;
        const index_t rows = l.extent[at], columns = l.extent[at + 1], sf = l.from[at + 1], st = l.to[at];
        for (index_t r0 = 0; r0 < rows; r0 += tile)
            for (index_t c0 = 0; c0 < columns; c0 += tile)
                for (index_t r = r0; r < std::min(r0 + tile, rows); ++r)
                    for (index_t c = c0; c < std::min(c0 + tile, columns); ++c) to[r * st + c] = from[c * sf + r];
        return;
    }
    for (index_t i = 0; i < l.extent[at]; ++i) strided_copy(from + i * l.from[at], to + i * l.to[at], l, dim + 1);
}

inline namespace RILL_ISA {

/// Adds one layout to the other, from dimension `dim` on.
template <class T> void strided_add(const T* from, T* to, const strided_layout& l, int dim) {
    if (dim >= l.rank - 1) {
        const auto at = static_cast<std::size_t>(dim);
        const bool one = dim == l.rank;
        const index_t n = one ? 1 : l.extent[at], sf = one ? 1 : l.from[at], st = one ? 1 : l.to[at];
        if (sf == 1 && st == 1) return combine_merge<sum_combine, T>(to, from, n);
        for (index_t i = 0; i < n; ++i) to[i * st] = (lane<T>(to[i * st]) + lane<T>(from[i * sf])).v;
        return;
    }
    const auto at = static_cast<std::size_t>(dim);
    for (index_t i = 0; i < l.extent[at]; ++i) strided_add(from + i * l.from[at], to + i * l.to[at], l, dim + 1);
}

} // namespace RILL_ISA

}}} // namespace rill::RILL_ABI::detail
