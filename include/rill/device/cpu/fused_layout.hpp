// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/core/program.hpp>
#include <rill/device/block.hpp>

namespace rill::inline RILL_ABI::detail {

/// Strides of a dense row-major tensor of shape `from` read over the shape `space` it broadcasts to; 0 where it stretches.
inline std::array<index_t, max_rank> broadcast_strides(const dims& from, const dims& space) {
    std::array<index_t, max_rank> strides{};
    index_t step = 1;
    for (int i = space.rank - 1; i >= 0; --i) {
        const int j = i - (space.rank - from.rank);
        if (j < 0) break;
        strides[static_cast<std::size_t>(i)] = from[j] == 1 ? 0 : step;
        step *= from[j];
    }
    return strides;
}

/// How one operand or result moves through the blocks of a fused loop.
struct operand_walk {
    std::array<index_t, max_rank> stride{}; // over the collapsed dimensions
    std::size_t element = 0;                // bytes
    bool direct = false;   // contiguous within a block: used in place
    bool constant = false; // the same in every block: laid out once a run
    std::size_t buffer = 0; // offset of its block buffer in the scratch memory, if not direct
};

/// The loops of a fused kernel: `outer` dimensions are stepped, dimension `outer` is cut into blocks of `rows`, and the
/// dimensions after it lie within a block.
struct fused_layout {
    int rank = 0; // collapsed
    std::array<index_t, max_rank> extent{};
    int outer = 0;
    index_t rows = 1;      // extents of dimension `outer` that a block takes
    index_t row_size = 1;  // elements of one such extent
    index_t total = 0;
    std::vector<operand_walk> leaves, results;
    std::size_t scratch = 0;

    bool all_direct() const {
        const auto direct = [](const operand_walk& w) { return w.direct; };
        return std::ranges::all_of(leaves, direct) && std::ranges::all_of(results, direct);
    }
};

/// Merges neighbouring dimensions that every operand walks as one, and drops extents of 1.
inline void collapse(fused_layout& l, const dims& space) {
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
            all([&](const operand_walk& w) { merges = merges && w.stride[last] == w.stride[from] * space[i]; });
        const auto to = merges ? last : static_cast<std::size_t>(n++);
        l.extent[to] = merges ? l.extent[to] * space[i] : space[i];
        all([&](operand_walk& w) { w.stride[to] = w.stride[from]; });
    }
    if (n == 0) { // one element
        l.extent[0] = 1;
        all([&](operand_walk& w) { w.stride[0] = 1; });
        n = 1;
    }
    l.rank = n;
}

/// Lays a fused loop out for concrete shapes. `force_blocks`: the block function can't take more than a block at once.
inline fused_layout plan_fused(const dims& space, std::span<const tensor_type> leaves, std::span<const tensor_type> results,
                               bool force_blocks) {
    fused_layout l;
    l.total = space.size();
    const auto walk = [&](const tensor_type& t) {
        operand_walk w;
        w.stride = broadcast_strides(t.shape, space);
        w.element = size_of(t.type);
        return w;
    };
    for (const auto& t : leaves) l.leaves.push_back(walk(t));
    for (const auto& t : results) l.results.push_back(walk(t));
    if (l.total == 0) return l;
    collapse(l, space);

    // the trailing dimensions that fit into a block together, and as many extents of the next one as still do
    int inner = l.rank;
    while (inner > 0 && l.row_size * l.extent[static_cast<std::size_t>(inner - 1)] <= block_elements)
        l.row_size *= l.extent[static_cast<std::size_t>(--inner)];
    l.outer = inner > 0 ? inner - 1 : 0;
    if (inner == 0) { // everything is one block: its first dimension plays the part of the cut one
        l.row_size /= l.extent[0];
        l.rows = l.extent[0];
    } else {
        l.rows = std::min(l.extent[static_cast<std::size_t>(l.outer)], std::max<index_t>(1, block_elements / l.row_size));
    }

    const auto classify = [&](operand_walk& w, bool is_result) {
        index_t dense = 1;
        w.direct = true;
        for (int i = l.rank - 1; i >= l.outer; --i) {
            const auto at = static_cast<std::size_t>(i);
            w.direct = w.direct && w.stride[at] == dense;
            dense *= l.extent[at];
        }
        // a result reduced over stepped dimensions gets several blocks in one place: they have to be folded
        if (is_result)
            for (int i = 0; i < l.outer; ++i) w.direct = w.direct && w.stride[static_cast<std::size_t>(i)] != 0;
        w.constant = true;
        for (int i = 0; i <= l.outer; ++i) w.constant = w.constant && w.stride[static_cast<std::size_t>(i)] == 0;
        if (inner == 0) w.constant = true;
        if (!w.direct) {
            w.buffer = l.scratch;
            const std::size_t bytes = static_cast<std::size_t>(l.rows * l.row_size) * w.element;
            l.scratch += (bytes + 63) / 64 * 64;
        }
    };
    for (auto& w : l.leaves) classify(w, false);
    for (auto& w : l.results) classify(w, true);

    // nothing stretches and nothing is reduced: one call does it all
    if (l.rank == 1 && !force_blocks && l.all_direct()) l.rows = l.extent[0];
    return l;
}

} // namespace rill::inline RILL_ABI::detail
