// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The state of a loop. Each loop-carried value has two buffers: the node's output and another. Iterations alternate between them. Both
/// lie in the memory of the node.
class loop_state_buffers {
public:
    loop_state_buffers(std::span<const tensor_type> types, allocator& memory, const memory_space* space = nullptr)
        : space_(space) {
        for (const auto& t : types) {
            types_.push_back(t);
            other_.emplace_back(blocks_of(space, memory), t.type, t.shape.size());
        }
        at_.resize(types_.size());
    }

    void begin(const kernel_args& args) {
        for (std::size_t i = 0; i < at_.size(); ++i) at_[i] = args.in<void>(static_cast<int>(i));
    }
    const void* at(std::size_t i) const { return at_[i]; }
    /// Returns the buffer for the next value of part i. `same`: it may overwrite the current value, unless this is the node's input.
    void* next(std::size_t i, const kernel_args& args, bool same) const {
        void* const out = args.out<void>(static_cast<int>(i));
        if (same && at_[i] != args.in<void>(static_cast<int>(i))) return const_cast<void*>(at_[i]);
        return at_[i] == out ? other_[i].data() : out;
    }
    void set(std::size_t i, const void* at) { at_[i] = at; }
    /// Copies part i into the node's output if it is not there already.
    void move_to_output(std::size_t i, const kernel_args& args) {
        void* const out = args.out<void>(static_cast<int>(i));
        if (at_[i] != out) copy_between(space_, at_[i], space_, out, types_[i].type, types_[i].shape.size());
        at_[i] = out;
    }
    void end(const kernel_args& args) {
        for (std::size_t i = 0; i < at_.size(); ++i) move_to_output(i, args);
    }

private:
    const memory_space* space_; // null: the host's
    vector<tensor_type> types_;
    vector<element_block> other_;
    std::vector<const void*> at_;
};

}}} // namespace rill::RILL_ABI::detail
