// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/cpu/fusion/interpreter.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A table of n pointers to operands: on the stack up to most_operands, beyond it in the memory `aside`.
template <class P> class pointer_table {
public:
    static constexpr std::size_t bytes_aside(std::size_t n) { return n <= most_operands ? 0 : n * sizeof(P); }

    pointer_table(std::size_t n, std::byte* aside) : all_(n <= most_operands ? few_ : reinterpret_cast<P*>(aside)) {}
    pointer_table(const pointer_table&) = delete;
    operator P*() { return all_; }

private:
    P few_[most_operands];
    P* all_;
};

/// The compiled function of a fused node; `run` is null if its program is interpreted.
struct node_function {
    block_function run = nullptr;
    int lanes = 1;          // elements per iteration
    std::size_t places = 0; // result pointers that it takes; an adjoint takes one per leaf occurrence

    /// Returns the index of a result among the function's result pointers.
    std::size_t place_of(const fused_spec& spec, std::size_t result) const;
};
node_function find_function(const fused_spec& spec, index_t elements);

/// The nodes of a fusion group as block functions, with the operands of each. Operand numbers count the leaves first, then the group's
/// results, then the values that never leave a block.
class fused_stages {
public:
    /// An input with its view. Nodes that read the same input in the same view share one leaf.
    struct leaf {
        int input;
        reduction view;
        friend bool operator==(const leaf&, const leaf&) = default;
    };

    explicit fused_stages(const fusion_group& group, std::size_t results, index_t elements = block_elements,
                          const operand_forms& forms = {});
    fused_stages(fused_stages&&) = default; // no copies: scalars_ points into values_

    const vector<leaf>& leaves() const noexcept { return leaves_; }
    /// Returns the group's distinct leaves that its nodes read, in the order of first use.
    static vector<leaf> leaves_of(const fusion_group& group);
    /// Returns the types of the leaves, given the group's space and inputs. A reduced view has the shape of the reduction.
    static std::vector<tensor_type> leaf_types(const fusion_group& group, const dims& space,
                                               std::span<const tensor_type> inputs);
    std::size_t operands() const noexcept { return leaves_.size() + results_ + hidden_.size(); }
    /// Returns true if its functions accept at most one block per call.
    bool in_blocks() const noexcept { return stages_.size() > 1 || stages_[0].interpreter; }
    bool may_divide() const noexcept { return may_divide_; }
    /// Returns true if JIT code computes all nodes in one function and makes use of `forms`.
    /// Otherwise all elements of results are written, and splat leaves must be materialized.
    bool emitted() const noexcept { return emitted_; }
    /// Returns the estimated cost per element, in additions.
    double work() const noexcept { return work_; }

    /// Assigns offsets in a thread's scratch memory for blocks of this many elements, from byte `at` on; returns the end.
    /// The memory holds hidden values, interpreter scratch memory and pointer tables.
    std::size_t place_buffers(std::size_t at, index_t block);

    /// Prepares a thread's scratch memory; call once per run and thread, before the first block.
    void begin(std::byte* own, index_t block) const;
    /// Writes the addresses of the hidden operands; call once before a sequence of blocks.
    void place_hidden(void** operand, std::byte* own) const;
    /// Runs all stages over one block of n elements; `operand` holds the block's address in each operand.
    void run(void* const* operand, index_t n, std::byte* own) const;
    /// Returns true if there is one compiled function, which reads the leaves in their order.
    bool is_direct() const noexcept { return direct_; }
    /// Runs a direct function, with the addresses of the leaves and results.
    void run_direct(const void* const* read, void* const* result, index_t n, std::byte* own) const;

private:
    struct stage { // its leaves, scalars and result pointers follow those of the stages before it
        block_function run = nullptr;
        std::optional<block_interpreter> interpreter;
        std::size_t first_leaf = 0, first_scalar = 0, first_place = 0;
        std::size_t interpreter_at = 0; // offset in a thread's scratch memory
    };
    struct placed_result {
        std::size_t place, operand;
    };
    struct hidden_value { // live from the stage that computes it to the last that reads it
        std::size_t element, first, last, at = 0;
    };

    void add_emitted(const fusion_group& group, block_function function);
    void add_stage(const fusion_group& group, std::size_t k, vector<std::vector<std::size_t>>& operand_of,
                   index_t elements);

    std::size_t results_;
    vector<leaf> leaves_;
    vector<stage> stages_;
    std::vector<std::uint32_t> leaf_operand_; // per stage and leaf occurrence
    vector<scalar_value> values_;
    vector<const void*> scalars_;
    vector<placed_result> placed_;
    std::vector<std::uint32_t> masks_; // per result pointer
    vector<hidden_value> hidden_;
    std::size_t read_at_ = 0, written_at_ = 0; // offsets in a thread's scratch memory: pointer tables
    bool may_divide_ = false;
    bool emitted_ = false, direct_ = false;
    double work_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/fused_stages.ipp>
#endif
