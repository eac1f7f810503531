// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/cpu/fusion/interpreter.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Pointers to so many operands: on the stack, or, where they are many, in memory set aside for them.
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

/// The compiled function of a fused node; `run` is null where its program is interpreted.
struct node_function {
    block_function run = nullptr;
    int lanes = 1;          // elements that it works on at a time
    std::size_t places = 0; // of results; those of an adjoint stand at the leaves they belong to

    /// Where a result stands.
    std::size_t place_of(const fused_spec& spec, std::size_t result) const;
};
node_function find_function(const fused_spec& spec, index_t elements);

/// The nodes of a chain as block functions, and what each reads and writes. Operands are numbered: leaves, then the chain's
/// results, then values that never leave a block.
class fused_stages {
public:
    /// An input in one view: what several nodes read alike is one leaf.
    struct leaf {
        int input;
        reduction view;
        friend bool operator==(const leaf&, const leaf&) = default;
    };

    explicit fused_stages(const fusion_group& chain, std::size_t results, index_t elements = block_elements,
                          const operand_forms& forms = {});
    fused_stages(fused_stages&&) = default; // scalars_ points into values_: a copy would share them

    const vector<leaf>& leaves() const noexcept { return leaves_; }
    /// Each once, in the order of first uses.
    static vector<leaf> leaves_of(const fusion_group& chain);
    /// Their types, of a chain over `space` whose inputs are these: a view of a reduction is as small as that.
    static std::vector<tensor_type> leaf_types(const fusion_group& chain, const dims& space,
                                               std::span<const tensor_type> inputs);
    std::size_t operands() const noexcept { return leaves_.size() + results_ + hidden_.size(); }
    /// Functions take a block at a time only.
    bool in_blocks() const noexcept { return stages_.size() > 1 || stages_[0].interpreter; }
    bool may_divide() const noexcept { return may_divide_; }
    /// All nodes are one function, which does what `forms` says; else elements are written all the same, and numbers that are to be
    /// spread are read as elements.
    bool emitted() const noexcept { return emitted_; }
    /// Additions that an element costs, roughly.
    double work() const noexcept { return work_; }

    /// Lays out what a thread needs beside operands that have memory, for blocks of so many elements, from byte `at` of its
    /// scratch memory on; returns where that ends.
    std::size_t place_buffers(std::size_t at, index_t block);

    /// Once a run and thread, before its first block.
    void begin(std::byte* own, index_t block) const;
    /// Once before a row of blocks: where the operands are that have no memory of their own.
    void place_hidden(void** operand, std::byte* own) const;
    /// One block of so many elements; `operand` says where this block of each is.
    void run(void* const* operand, index_t n, std::byte* own) const;
    /// One function reads the leaves in their order.
    bool straight() const noexcept { return straight_; }
    /// The same where it is so, of leaves there and results there.
    void run_straight(const void* const* read, void* const* result, index_t n, std::byte* own) const;

private:
    struct stage { // its leaves, scalars and places of results stand behind those of the stages before it
        block_function run = nullptr;
        std::optional<block_interpreter> interpreter;
        std::size_t first_leaf = 0, first_scalar = 0, first_place = 0;
        std::size_t interpreter_at = 0; // in a thread's own scratch memory
    };
    struct placed_result {
        std::size_t place, operand;
    };
    struct hidden_value { // alive from the stage that makes it to the last that reads it
        std::size_t element, first, last, at = 0;
    };

    void add_emitted(const fusion_group& chain, block_function function);
    void add_stage(const fusion_group& chain, std::size_t k, vector<std::vector<std::size_t>>& operand_of,
                   index_t elements);

    std::size_t results_;
    vector<leaf> leaves_;
    vector<stage> stages_;
    std::vector<std::uint32_t> leaf_operand_; // of each occurrence of a leaf in each stage
    vector<scalar_value> values_;
    vector<const void*> scalars_;
    vector<placed_result> placed_;
    std::vector<std::uint32_t> masks_; // per place
    vector<hidden_value> hidden_;
    std::size_t read_at_ = 0, written_at_ = 0; // in a thread's own scratch memory: tables of pointers
    bool may_divide_ = false;
    bool emitted_ = false, straight_ = false;
    double work_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/fused_stages.ipp>
#endif
