// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <rill/core/vector.hpp>
#include <rill/device/block.hpp>
#include <rill/device/registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Strides of a dense row-major tensor of shape `from` read over the shape `space` it broadcasts to; 0 where it stretches.
std::array<index_t, max_rank> broadcast_strides(const dims& from, const dims& space);

/// Bytes behind a block buffer that laying out may overwrite.
inline constexpr index_t layout_slack = 64;

/// How one operand or result moves through the blocks of a fused loop.
struct access_pattern {
    std::array<index_t, max_rank> stride{}; // over the collapsed dimensions
    std::size_t element = 0;                // bytes
    bool direct = false;                    // contiguous within a block: used in place
    bool constant = false;                  // the same in every block: laid out once a run
    std::size_t buffer = 0;                 // offset of its block buffer in the scratch memory, if not direct
};

/// The loops of a fused kernel: `outer` dimensions are stepped, dimension `outer` is cut into blocks of `rows`, and the
/// dimensions after it lie within a block.
struct fused_layout {
    int rank = 0; // collapsed
    std::array<index_t, max_rank> extent{};
    int outer = 0;
    index_t rows = 1;     // extents of dimension `outer` that a block takes
    index_t row_size = 1; // elements of one such extent
    index_t total = 0;
    vector<access_pattern> leaves, results;
    std::size_t scratch = 0;

    bool all_direct() const;
};

/// Merges neighbouring dimensions that every operand walks as one, and drops extents of 1.
void collapse(fused_layout& l, const dims& space);

/// Lays a fused loop out for concrete shapes. `force_blocks`: the block function can't take more than a block at once; `spread`:
/// leaves of one number that it takes as it is.
fused_layout plan_fused(const dims& space, std::span<const tensor_type> leaves, std::span<const tensor_type> results,
                        bool force_blocks, std::span<const char> splat = {});

/// Lays a block of a stretched leaf out densely.
void materialize_broadcast(const void* from, void* to, const access_pattern& w, const fused_layout& l, index_t rows);

/// Brings a block of values, along dimension `dim` and those after it, into a reduced result. Halving rows rather than adding them one
/// by one keeps the loops long and the rounding small.
void fold_block(std::byte* to, std::byte* from, const access_pattern& w, const fused_layout& l, int dim, index_t extent,
                const reducer& c);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/fused_layout.ipp>
#endif
