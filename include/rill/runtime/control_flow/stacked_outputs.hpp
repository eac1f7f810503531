// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Values of one type, one per iteration, stacked along a new first axis.
class stacked_outputs {
public:
    stacked_outputs(const tensor_type& each, allocator& memory, const memory_space* space = nullptr)
        : each_(each), space_(space), memory_(&blocks_of(space, memory)) {}

    /// Returns true if the values move when the next one comes.
    bool is_full() const { return all_ && kept_ >= room_; }
    /// Returns the address for the next n values.
    void* next(index_t n = 1) {
        if (!all_ || kept_ + n > room_) grow(n);
        return place(kept_);
    }
    /// Counts n more values; returns the address of the first.
    void* keep(index_t n = 1) { return place(std::exchange(kept_, kept_ + n)); }
    any_array take() && {
        dims shape{kept_};
        for (int i = 0; i < each_.shape.rank; ++i) shape.push(each_.shape[i]);
        if (!all_) grow(0);
        return any_array(each_.type, shape, all_->data(), all_, space_);
    }

private:
    void grow(index_t n) {
        const index_t room = std::max({2 * room_, kept_ + n, index_t{16}});
        auto more = std::make_shared<element_block>(*memory_, each_.type, room * each_.shape.size());
        if (all_) copy_between(space_, all_->data(), space_, more->data(), each_.type, kept_ * each_.shape.size());
        all_ = std::move(more);
        room_ = room;
    }
    void* place(index_t k) const {
        return static_cast<std::byte*>(all_->data()) +
               static_cast<std::size_t>(k * each_.shape.size()) * size_of(each_.type);
    }

    tensor_type each_;
    const memory_space* space_; // null: the host's
    allocator* memory_;
    std::shared_ptr<element_block> all_;
    index_t kept_ = 0, room_ = 0;
};

}}} // namespace rill::RILL_ABI::detail
