// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <rill/core/any_array.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The value of a variable. A step that reads it holds one version. A write changes the newest version in place if nobody else holds it,
/// otherwise a copy; each reader sees one whole version. A variable with in-place updates has one version only. Its writers take no lock: a
/// concurrent reader may see some elements before and some after a write.
class variable_state : public resource {
public:
    /// The value lies in a memory (null: the host's); `memory` is the allocator of its blocks.
    variable_state(const tensor_type& type, allocator& memory, const memory_space* space, bool in_place = false)
        : type_(type), memory_(memory), space_(space), in_place_(in_place) {}

    const tensor_type& type() const noexcept { return type_; }
    const memory_space* space() const noexcept { return space_; }
    bool in_place() const noexcept { return in_place_; }
    static constexpr auto kind = "variable";

    std::string described() const override { return described(type_, space_, in_place_); }
    static std::string described(const tensor_type& type, const memory_space* space, bool in_place) {
        return kind + (" " + to_string(type)) + (space ? ", in memory of " + space->name : "") +
               (in_place ? ", updated in place" : "");
    }

    /// Takes one part, a value of the variable's type.
    RILL_INLINE void restore_parts(std::span<const named_array> parts) override;

    /// Writes a whole value, outside of any step.
    void begin_with(const any_array& value);
    /// Returns the current version, or null if none has been assigned.
    std::shared_ptr<element_block> read() const;

    /// Returns true if `held` is still the current version. Takes no lock.
    bool is_newest(const std::shared_ptr<element_block>& held) const noexcept {
        return held && held.get() == newest_.load(std::memory_order_acquire);
    }

    /// A write access to the variable. `mine` is the version that the step holds; its own reference does not count. `whole`: the write
    /// replaces all elements, so the old ones are not copied.
    class writer {
    public:
        writer(variable_state& v, std::shared_ptr<element_block>& mine, bool whole);
        bool ready() const noexcept { return ready_; }
        void* data() const noexcept { return mine_->data(); }
        /// Returns true if the write makes a new version; false if it changes the current one in place.
        bool is_new() const noexcept { return lock_ && v_.value_ != mine_; } // without the lock it writes in place
        /// Makes the new version visible. Without a commit the old version stays, unless the op failed half way in place.
        void commit() noexcept {
            if (!is_new()) return; // avoids the atomic reference count
            v_.value_ = mine_;
            v_.newest_.store(mine_.get(), std::memory_order_release);
        }

    private:
        variable_state& v_;
        std::shared_ptr<element_block>& mine_;
        std::unique_lock<std::mutex> lock_;
        bool ready_ = false;
    };

private:
    tensor_type type_;
    allocator& memory_;
    const memory_space* space_; // the memory of the value; null: the host's
    const bool in_place_;
    mutable std::mutex mutex_;
    std::shared_ptr<element_block> value_;
    mutable bool lent_ = false;                         // read since the last write in place
    std::atomic<const element_block*> newest_{nullptr}; // value_.get(), compared without the lock
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/resources/variable_state.ipp>
#endif
