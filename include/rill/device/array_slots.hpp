// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <rill/core/small_vector.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Kernel arguments for a call outside any frame, on the CPU. Slots hold the inputs, then the outputs.
class array_slots {
public:
    array_slots() = default;
    array_slots(std::span<const any_array> inputs, std::vector<any_array>& outputs) {
        for (const auto& in : inputs) input(in.data());
        for (auto& out : outputs) output(out.mutable_data());
    }

    /// Appends an input; add all inputs before the first output.
    void input(const void* data) {
        slots_.push_back(const_cast<void*>(data));
        ++inputs_;
    }
    void output(void* data) { slots_.push_back(data); }

    /// Returns arguments that point into this object, which must outlive the call. Call it once, after the last output.
    kernel_args args(const step_context* step, const execution_context& on = {}) {
        on_ = on;
        numbers_.resize(slots_.size());
        std::iota(numbers_.begin(), numbers_.end(), 0);
        return {slots_.data(), numbers_.data(), numbers_.data() + inputs_, on_, step ? step : &no_step};
    }

private:
    small_vector<void*, 8> slots_;
    small_vector<std::int32_t, 8> numbers_;
    std::size_t inputs_ = 0;
    execution_context on_;
};

/// Returns an uninitialized array in a space, or in the host's memory (null), from the allocator `host`.
inline any_array array_in(const memory_space* space, const tensor_type& type, allocator& host = default_allocator()) {
    return space ? any_array(type.type, type.shape, *space) : any_array(type.type, type.shape, host);
}

/// Returns uninitialized arrays of these types, whose shapes must be complete.
inline std::vector<any_array> arrays_of(std::span<const tensor_type> types, const memory_space* space = nullptr,
                                        allocator& host = default_allocator()) {
    std::vector<any_array> all;
    for (const auto& t : types) all.push_back(array_in(space, t, host));
    return all;
}

}}} // namespace rill::RILL_ABI::detail
