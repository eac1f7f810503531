// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <rill/core/program.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/cpu/fusion/fused_kernel_layout.hpp>
#include <rill/device/cpu/fusion/fused_stages.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a fusion group of a single node.
fusion_group alone(const fused_spec& spec, const kernel_request& request);

/// A fused node or fusion group, bound on the CPU: what fused_loops() returns.
class fused_kernel {
public:
    fused_kernel(const fusion_group& group, const dims& space, kernel_request& request);

    void operator()(const kernel_args& a) const;

private:
    struct wide_sum {           // for a result with a wider accumulator type
        std::size_t at = 0;     // offset of its sums in the scratch memory
        std::size_t buffer = 0; // offset of a widened block in each thread's scratch memory
    };
    struct scaled_leaf { // the gradient of a mean, divided by the count before the loop
        std::size_t leaf;
        reducer by;
        index_t size, count;
        std::size_t at;
    };

    struct viewed_leaf {
        std::size_t leaf;
        strided_view view;
        std::ptrdiff_t begin; // in bytes
    };
    struct padded_result {
        std::size_t result;
        padded_view padding;
        std::ptrdiff_t begin; // of the value, in bytes
        std::size_t element;
        dims shape; // of the value
    };

    /// Plans the divisions by the count that precede the loop.
    void plan_means(const dims& space, std::span<const tensor_type> leaves, kernel_request& request);

    /// Returns facts from the layout: the leaves that are single values, and the results of which only sums are needed.
    operand_forms forms(const vector<fused_stages::leaf>& leaves, const kernel_request& request) const;

    /// Plans how results are reduced. Returns their types, with reduced dimensions kept.
    std::vector<tensor_type> plan_results(const fusion_group& group, const dims& space, const kernel_request& request);

    /// Reserves memory for results with a wider accumulator type.
    void plan_wide_sums(kernel_request& request);

    static reducer find_reducer(combine how, dtype type);
    /// Notes the views that the group reads and the paddings that it writes.
    void plan_views(const fusion_group& group, const kernel_request& request);

    /// Divides the blocks into pieces for threads by shape alone. Sums are therefore independent of the number of threads.
    void plan_pieces(kernel_request& request, const std::vector<tensor_type>& results);

    /// Runs all pieces on this thread, or shares them with a pool.
    void run_pieces(const void* const* leaf, std::byte* const* out, std::byte* scratch, thread_pool* pool) const;
    void run_stage(index_t piece, const void* const* leaf, std::byte* const* out, std::byte* scratch,
                   std::byte* own) const;
    void run_blocks(index_t first, index_t last, const void* const* base, std::byte* const* out, std::byte* own) const;
    /// Runs a single block through a single function: a fast path for small tensors.
    void run_at_once(const void** leaf, std::byte* const* out, std::byte* own) const;
    void fold(std::size_t result, std::byte* to, std::byte* block, index_t rows) const;

    std::size_t leaves_, results_;
    std::optional<fused_stages> stages_;
    fused_layout layout_;
    vector<reducer> reducers_;   // per result: its reduction; empty for a map
    std::vector<index_t> count_; // per result: the divisor of a mean, else -1
    std::vector<index_t> result_size_;
    std::vector<char> sums_;   // per result: it is a sum in its own type
    std::vector<char> summed_; // per result: each block yields a single sum
    vector<wide_sum> wide_;    // per result
    vector<scaled_leaf> means_;
    vector<viewed_leaf> views_;
    vector<padded_result> paddings_;

    bool shared_ = false; // with the pool of the context
    index_t blocks_ = 0, pieces_ = 1;
    bool at_once_ = false;
    std::size_t own_at_ = 0, own_bytes_ = 0;         // scratch memory of each thread
    std::size_t leaf_at_ = 0, out_at_ = 0;           // offsets in the scratch memory: pointers to leaves and outputs
    std::size_t operand_at_ = 0, to_at_ = 0;         // offsets in each thread's scratch memory: pointer tables
    std::size_t partial_at_ = 0, partial_bytes_ = 0; // partial results of each piece, if there are several
    std::vector<std::size_t> partial_;               // per result: its offset among a piece's partial results
};

/// Binds the kernel of a fused node or fusion group on the CPU; the request's outputs are the group's. The kernel runs block functions
/// over blocks of elements. It materializes broadcast leaves and reduces results block by block.
kernel fused_loops(const fused_spec& spec, kernel_request& request);
kernel fused_loops(const fusion_group& group, kernel_request& request);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/fused_kernel.ipp>
#endif
