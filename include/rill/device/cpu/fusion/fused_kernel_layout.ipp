// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fusion/fused_kernel_layout.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <ranges>

#include <rill/core/algorithm.hpp>
#include <rill/core/allocator.hpp>
#include <rill/core/error.hpp>
#include <rill/core/program.hpp>
#include <rill/device/cpu/fusion/repeat.hpp>
#include <rill/device/strided_layout.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::array<index_t, max_rank> broadcast_strides(const dims& from, const dims& space) {
    return broadcast_strides(from, dense_strides(from), space);
}

RILL_COLD std::array<index_t, max_rank>
broadcast_strides(const dims& from, const std::array<index_t, max_rank>& strides, const dims& space) {
    std::array<index_t, max_rank> all{};
    for (int j = 0; j < from.rank; ++j)
        if (from[j] != 1) all[space.rank - from.rank + j] = strides[j]; // the space of one element may have fewer axes
    return all;
}

RILL_COLD bool fused_layout::all_direct() const {
    const auto direct = [](const access_pattern& w) { return w.direct; };
    return detail::all_of(leaves, direct) && detail::all_of(results, direct);
}

RILL_COLD void collapse(fused_layout& l, const dims& space) {
    const auto all = [&](auto&& f) {
        for (auto& w : l.leaves) f(w);
        for (auto& w : l.results) f(w);
    };
    int n = 0;
    for (int i = 0; i < space.rank; ++i) {
        const auto from = static_cast<std::size_t>(i);
        if (space[i] == 1) continue;
        bool merges = n > 0;
        const auto last = static_cast<std::size_t>(n - 1);
        if (merges)
            all([&](const access_pattern& w) { merges = merges && w.stride[last] == w.stride[from] * space[i]; });
        const auto to = merges ? last : static_cast<std::size_t>(n++);
        l.extent[to] = merges ? l.extent[to] * space[i] : space[i];
        all([&](access_pattern& w) { w.stride[to] = w.stride[from]; });
    }
    if (n == 0) { // a single element
        l.extent[0] = 1;
        all([&](access_pattern& w) { w.stride[0] = 1; });
        n = 1;
    }
    l.rank = n;
}

RILL_COLD fused_layout plan_fused(const dims& space, std::span<const fused_operand> leaves,
                                  std::span<const fused_operand> results, bool force_blocks,
                                  std::span<const char> splat) {
    fused_layout l;
    l.total = space.size();
    bool in_rows = false; // an operand is dense only within rows of the last axis
    const auto walk = [&](const fused_operand& t) {
        access_pattern w;
        w.stride =
            t.view ? broadcast_strides(t.type.shape, t.view->stride, space) : broadcast_strides(t.type.shape, space);
        w.element = size_of(t.type.type);
        return w;
    };
    for (const auto& t : leaves) l.leaves.push_back(walk(t));
    for (const auto& t : results) l.results.push_back(walk(t));
    if (l.total == 0) return l;
    collapse(l, space);
    const auto note_rows = [&](const fused_operand& t, const access_pattern& w) {
        index_t dense = 1;
        for (int i = l.rank; t.view && i-- > 0; dense *= l.extent[i])
            in_rows = in_rows || (w.stride[i] != dense && w.stride[i] != 0);
    };
    for (std::size_t i = 0; i < leaves.size(); ++i) note_rows(leaves[i], l.leaves[i]);
    for (std::size_t i = 0; i < results.size(); ++i) note_rows(results[i], l.results[i]);
    constexpr index_t long_row = 128; // shorter ones are copied into dense blocks
    in_rows = in_rows && l.rank > 1 && l.extent[l.rank - 1] >= long_row;

    // A block takes the trailing dimensions that fit together, and as many extents of the next dimension as still fit.
    int inner = l.rank;
    while (inner > 0 && !in_rows && l.row_size * l.extent[inner - 1] <= block_elements) l.row_size *= l.extent[--inner];
    l.outer = inner > 0 ? inner - 1 : 0;
    if (inner == 0) { // a single block: its first dimension acts as the split one
        l.row_size /= l.extent[0];
        l.rows = l.extent[0];
    } else {
        l.rows = std::min(l.extent[l.outer], std::max<index_t>(1, block_elements / l.row_size));
    }

    const auto classify = [&](access_pattern& w, bool is_result) {
        index_t dense = 1;
        w.direct = true;
        for (int i = l.rank - 1; i >= l.outer; --i) {
            const auto at = static_cast<std::size_t>(i);
            w.direct = w.direct && w.stride[at] == dense;
            dense *= l.extent[at];
        }
        // A result that is reduced over a stepped dimension receives several blocks in one place; these must be folded.
        if (is_result)
            for (int i = 0; i < l.outer; ++i) w.direct = w.direct && w.stride[i] != 0;
        w.constant = true;
        for (int i = 0; i <= l.outer; ++i) w.constant = w.constant && w.stride[i] == 0;
        if (inner == 0) w.constant = true;
        if (!w.direct) {
            w.buffer = l.scratch;
            const std::size_t bytes = static_cast<std::size_t>(l.rows * l.row_size) * w.element;
            l.scratch += aligned_size(bytes + (l.rank >= 2 && !is_result ? layout_slack : 0));
        }
    };
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (splat.empty() || !splat[i])
            classify(l.leaves[i], false);
        else
            l.leaves[i].direct = true;
    }
    for (auto& w : l.results) classify(w, true);

    // Without broadcasts and reductions, long blocks are better; there are still enough of them for several threads.
    constexpr index_t long_block = 16 * block_elements;
    if (l.rank == 1 && !force_blocks && l.all_direct()) l.rows = std::min(l.extent[0], long_block);
    return l;
}

/// Writes rows of up to layout_slack bytes, each as a number of 16-byte stores that is known at compile time.
/// The next row overwrites the excess. write(i, to, n) writes n elements of row i. Returns the end.
template <class E, class Write> E* write_short_rows(E* to, index_t rows, index_t inner, const Write& write) {
    constexpr index_t lanes = 16 / static_cast<index_t>(sizeof(E));
    const auto by = [&]<int Stores>(std::integral_constant<int, Stores>) {
        for (index_t i = 0; i < rows; ++i, to += inner) write(i, to, std::integral_constant<index_t, Stores * lanes>{});
        return to;
    };
    switch ((inner + lanes - 1) / lanes) {
    case 1: return by(std::integral_constant<int, 1>{});
    case 2: return by(std::integral_constant<int, 2>{});
    case 3: return by(std::integral_constant<int, 3>{});
    default: return by(std::integral_constant<int, 4>{});
    }
}

/// Writes a broadcast leaf densely over the dimensions of a block from `dim` on; returns the end.
template <class E>
E* materialize_broadcast(const E* from, E* to, const access_pattern& w, const fused_layout& l, int dim,
                         index_t extent) {
    const index_t stride = w.stride[dim];
    constexpr index_t chunk = layout_slack / static_cast<index_t>(sizeof(E));
    if (dim == l.rank - 1) {
        if (stride == 1) return std::copy_n(from, extent, to);
        if (stride != 0) {
            for (index_t i = 0; i < extent; ++i) to[i] = from[i * stride];
            return to + extent;
        }
        const E value = *from;
        if (extent < chunk) return std::fill_n(to, extent, value);
        // A compile-time count makes fast stores; the last chunk overlaps the one before it.
        for (index_t i = 0; i < extent - chunk; i += chunk) std::fill_n(to + i, chunk, value);
        return std::fill_n(to + extent - chunk, chunk, value);
    }
    const auto below = static_cast<std::size_t>(dim + 1);
    const index_t inner = l.extent[below];
    if (dim + 2 == l.rank && inner <= chunk && (stride == 0 || w.stride[below] == 0)) {
        if (w.stride[below] == 0) // each row repeats one value
            return write_short_rows(to, extent, inner,
                                    [&](index_t i, E* at, auto n) { std::fill_n(at, n(), from[i * stride]); });
        // Rows are copied from a local array: reading back memory that was just stored is slow.
        std::array<E, static_cast<std::size_t>(chunk)> row{};
        for (index_t k = 0; k < chunk; ++k) // copying `inner` elements would compile to a slow instruction
            if (k < inner) row[static_cast<std::size_t>(k)] = from[k];
        return write_short_rows(to, extent, inner, [&](index_t, E* at, auto n) {
            std::memcpy(at, row.data(), static_cast<std::size_t>(n()) * sizeof(E));
        });
    }
    if (stride == 0) { // every row equals the first
        const index_t row = materialize_broadcast(from, to, w, l, dim + 1, inner) - to, all = row * extent;
        repeat(to, static_cast<std::size_t>(row) * sizeof(E), static_cast<std::size_t>(all) * sizeof(E));
        return to + all;
    }
    for (index_t i = 0; i < extent; ++i) to = materialize_broadcast(from + i * stride, to, w, l, dim + 1, inner);
    return to;
}

RILL_INLINE void materialize_broadcast(const void* from, void* to, const access_pattern& w, const fused_layout& l,
                                       index_t rows) {
    const auto go = [&]<class E>(E*) {
        materialize_broadcast(static_cast<const E*>(from), static_cast<E*>(to), w, l, l.outer, rows);
    };
    switch (w.element) {
    case 1: return go(static_cast<std::uint8_t*>(nullptr));
    case 2: return go(static_cast<std::uint16_t*>(nullptr));
    case 4: return go(static_cast<std::uint32_t*>(nullptr));
    case 8: return go(static_cast<std::uint64_t*>(nullptr));
    default: return go(static_cast<std::array<std::uint64_t, 2>*>(nullptr));
    }
}

RILL_INLINE void scatter_rows(std::byte* to, const std::byte* from, const access_pattern& w, const fused_layout& l,
                              int dim, index_t extent) {
    const auto bytes = [&](index_t n) {
        return static_cast<std::ptrdiff_t>(n) * static_cast<std::ptrdiff_t>(w.element);
    };
    const auto at = static_cast<std::size_t>(dim);
    if (dim == l.rank - 1) {
        std::memcpy(to, from, static_cast<std::size_t>(bytes(extent)));
        return;
    }
    index_t below = 1;
    for (int i = dim + 1; i < l.rank; ++i) below *= l.extent[i];
    for (index_t i = 0; i < extent; ++i)
        scatter_rows(to + bytes(i * w.stride[at]), from + bytes(i * below), w, l, dim + 1, l.extent[at + 1]);
}
RILL_INLINE void write_padding(std::byte* to, const padded_view& p, const dims& value, std::size_t element) {
    const auto strides = dense_strides(p.whole);
    const auto fill = [&](std::byte* at, index_t n) { // doubles what is written
        const auto all = static_cast<std::size_t>(n) * element;
        if (all == 0) return;
        std::memcpy(at, p.around.data(), element);
        repeat(at, element, all);
    };
    int padded = p.whole.rank; // the axes that are padded, and those before them
    while (padded > 0 && p.whole[padded - 1] == value[padded - 1]) --padded;
    const auto surround = [&](const auto& self, std::byte* at, int axis) -> void {
        const auto step = strides[static_cast<std::size_t>(axis)];
        const auto row = [&](index_t i) { return at + static_cast<std::size_t>(i * step) * element; };
        const index_t first = p.before[axis], last = first + value[axis];
        fill(at, first * step);
        for (index_t i = first; axis + 1 < padded && i < last; ++i) self(self, row(i), axis + 1);
        fill(row(last), (p.whole[axis] - last) * step);
    };
    if (padded > 0) surround(surround, to, 0);
}

RILL_INLINE void fold_block(std::byte* to, std::byte* from, const access_pattern& w, const fused_layout& l, int dim,
                            index_t extent, const reducer& c) {
    const auto at = static_cast<std::size_t>(dim);
    index_t below = 1;
    bool all_reduced = true;
    for (int i = dim; i < l.rank; ++i) {
        if (i > dim) below *= l.extent[i];
        all_reduced = all_reduced && w.stride[i] == 0;
    }
    const auto bytes = [&](index_t n) { return static_cast<std::size_t>(n) * w.element; };
    if (all_reduced) return c.fold(to, from, extent * below);
    if (dim == l.rank - 1) return c.merge(to, from, extent);
    if (dim == l.rank - 2 && w.stride[at] == 0) return c.fold_rows(to, from, extent, below);
    if (w.stride[at] == 0) {
        for (index_t rows = extent; rows > 1;) {
            const index_t upper = rows / 2;
            rows -= upper;
            c.merge(from, from + bytes(rows * below), upper * below);
        }
        return fold_block(to, from, w, l, dim + 1, l.extent[at + 1], c);
    }
    for (index_t i = 0; i < extent; ++i)
        fold_block(to + bytes(i * w.stride[at]), from + bytes(i * below), w, l, dim + 1, l.extent[at + 1], c);
}

}}} // namespace rill::RILL_ABI::detail
