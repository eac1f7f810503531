// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <rill/core/vector.hpp>
#include <rill/device/block.hpp>
#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the strides of a dense row-major tensor of shape `from`, broadcast to `space`; 0 in broadcast dimensions.
std::array<index_t, max_rank> broadcast_strides(const dims& from, const dims& space);
/// The same for a tensor whose elements lie at these strides.
std::array<index_t, max_rank> broadcast_strides(const dims& from, const std::array<index_t, max_rank>& strides,
                                                const dims& space);

/// The bytes behind a block buffer that materialize_broadcast may overwrite.
inline constexpr index_t layout_slack = 64;

/// The access pattern of one operand or result over the blocks of a fused loop.
struct access_pattern {
    std::array<index_t, max_rank> stride{}; // in elements, over the collapsed dimensions
    std::size_t element = 0;                // bytes per element
    bool direct = false;                    // contiguous within a block: used in place, without a buffer
    bool constant = false;                  // the same in every block: materialized once, not per block
    std::size_t buffer = 0;                 // if not direct: offset of its block buffer in the scratch memory
};

/// The loop nest of a fused kernel. It steps through the dimensions before `outer` and splits dimension `outer` into blocks of `rows`.
/// The dimensions after `outer` lie within a block.
struct fused_layout {
    int rank = 0; // after collapsing dimensions
    std::array<index_t, max_rank> extent{};
    int outer = 0;
    index_t rows = 1;     // extent of a block in dimension `outer`
    index_t row_size = 1; // elements per row: the product of the extents after `outer`
    index_t total = 0;
    vector<access_pattern> leaves, results;
    std::size_t scratch = 0;

    bool all_direct() const;
};

/// Merges neighbouring dimensions that every operand traverses as one, and drops extents of 1.
void collapse(fused_layout& l, const dims& space);

/// An operand of a fused loop: its type, and where its elements lie; null: in order.
struct fused_operand {
    tensor_type type;
    const strided_view* view = nullptr;
};

/// Plans a fused loop for concrete shapes. `force_blocks`: the block function takes at most one block per call.
/// `splat`: per leaf, true if the block function reads it as a single value.
fused_layout plan_fused(const dims& space, std::span<const fused_operand> leaves,
                        std::span<const fused_operand> results, bool force_blocks, std::span<const char> splat = {});

/// Writes `rows` rows of a broadcast leaf densely to `to`.
void materialize_broadcast(const void* from, void* to, const access_pattern& w, const fused_layout& l, index_t rows);

/// Writes a block of values, along dimension `dim` and those after it, to where a result has them. They lie densely in `from`.
void scatter_rows(std::byte* to, const std::byte* from, const access_pattern& w, const fused_layout& l, int dim,
                  index_t extent);

/// Writes the elements of a padded tensor that surround the value.
void write_padding(std::byte* to, const padded_view& p, const dims& value, std::size_t element);

/// Folds a block of values, along dimension `dim` and those after it, into a reduced result.
/// It halves the number of rows repeatedly; this keeps loops long and rounding errors small.
void fold_block(std::byte* to, std::byte* from, const access_pattern& w, const fused_layout& l, int dim, index_t extent,
                const reducer& c);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/fused_kernel_layout.ipp>
#endif
