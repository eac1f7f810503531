// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/cpu/fused_layout.hpp>
#include <rill/device/cpu/fused_stages.hpp>
#include <rill/device/cpu/repeat.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Lays a stretched leaf out densely over the dimensions of a block; returns where the next element goes.
template <class E>
E* lay_out(const E* from, E* to, const operand_walk& w, const fused_layout& l, int dim, index_t extent) {
    const index_t stride = w.stride[dim];
    if (dim == l.rank - 1) {
        constexpr index_t few = 16;
        if (stride != 0) return std::copy_n(from, extent, to);
        const index_t first = std::min(extent, few);
        std::fill_n(to, first, *from);
        repeat(to, static_cast<std::size_t>(first) * sizeof(E), static_cast<std::size_t>(extent) * sizeof(E));
        return to + extent;
    }
    const auto below = static_cast<std::size_t>(dim + 1);
    const index_t inner = l.extent[below];
    if (stride == 0) { // each row is like the first
        const index_t row = lay_out(from, to, w, l, dim + 1, inner) - to, all = row * extent;
        repeat(to, static_cast<std::size_t>(row) * sizeof(E), static_cast<std::size_t>(all) * sizeof(E));
        return to + all;
    }
    constexpr index_t chunk = layout_slack / static_cast<index_t>(sizeof(E));
    if (dim + 2 == l.rank && w.stride[below] == 0 && inner <= chunk) {
        // short rows of one value each: a fixed number of stores, of which the next row overwrites what is too many
        for (index_t i = 0; i < extent; ++i, to += inner) std::fill_n(to, chunk, from[i * stride]);
        return to;
    }
    for (index_t i = 0; i < extent; ++i) to = lay_out(from + i * stride, to, w, l, dim + 1, inner);
    return to;
}

void lay_out(const void* from, void* to, const operand_walk& w, const fused_layout& l, index_t rows);

/// Brings a block of values into a reduced result. Halving rows rather than adding them one by one keeps the loops long
/// and the rounding small.
void fold_block(std::byte* to, std::byte* from, const operand_walk& w, const fused_layout& l, int dim, index_t extent,
                const combiner& c);

} // namespace detail

/// The kernel of every fused node on the CPU, and of chains of them: block functions run over blocks of elements, with
/// stretched leaves laid out and results reduced block by block.
class fused_kernel {
public:
    static constexpr std::size_t max_operands = detail::fused_stages::most;

    fused_kernel(const fused_spec& spec, kernel_request& request);
    /// The outputs asked for are those of the chain.
    fused_kernel(const fused_chain& chain, kernel_request& request);

    void operator()(const kernel_args& a) const;

private:
    struct wide_sum {           // of a result that is summed up in a wider type
        std::size_t at = 0;     // its sums, in the scratch memory
        std::size_t buffer = 0; // a block of it widened, in that of each thread
    };
    struct scaled_leaf { // the gradient of a mean, divided by the count before the loop
        std::size_t leaf;
        combiner by;
        index_t size, count;
        std::size_t at;
    };

    /// Types of leaves as the loop sees them.
    std::vector<tensor_type> plan_leaves(const dims& space, kernel_request& request);

    /// Types of results, reduced dimensions kept, and how they are combined.
    std::vector<tensor_type> plan_results(const fused_chain& chain, const dims& space, const kernel_request& request);

    /// Memory for results that are summed up in a wider type than theirs.
    void plan_wide_sums(kernel_request& request);

    static combiner find_combiner(combine how, dtype type);

    /// How the blocks are shared out: by shape alone, so that sums don't depend on the number of threads.
    void plan_pieces(kernel_request& request, const std::vector<tensor_type>& results);

    /// Runs all pieces on this thread, or with the pool's help.
    void run_pieces(const void* const* leaf, std::byte* const* out, std::byte* scratch) const;
    void run_piece(index_t piece, const void* const* leaf, std::byte* const* out, std::byte* scratch,
                   std::byte* own) const;
    void run_blocks(index_t first, index_t last, const void* const* base, std::byte* const* out, std::byte* own) const;

    detail::fused_stages stages_;
    detail::fused_layout layout_;
    std::size_t leaves_ = 0, results_ = 0;
    detail::vector<combiner> combiners_; // per result: how it is reduced; empty of a map
    std::vector<index_t> count_;         // per result: what a mean is divided by; -1 of others
    std::vector<index_t> result_size_;
    detail::vector<wide_sum> wide_; // per result
    detail::vector<scaled_leaf> means_;

    thread_pool* pool_ = nullptr;
    index_t blocks_ = 0, pieces_ = 1;
    std::size_t own_at_ = 0, own_bytes_ = 0;         // scratch memory of each thread
    std::size_t partial_at_ = 0, partial_bytes_ = 0; // reduced results of each piece, where there are several
    std::vector<std::size_t> partial_;               // per result: its place among them
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/cpu/fused.ipp>
#endif
