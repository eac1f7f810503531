// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <rill/core/any_array.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The ways in which a write treats the elements of a variable.
enum class variable_write : std::uint8_t {
    elements,   // changes some elements in place
    replaces,   // writes every element, possibly at another address than the old elements
    initialises // as `replaces`, also if there is no old value
};

/// The value of a variable. A reader holds one whole version, which never changes while it is held. Writers take turns.
///
/// If the value has no other holder, a write changes it in place, under the lock that readers take briefly. Otherwise the kind of the
/// write decides:
///
/// - A write that replaces every element reads the old block and writes a spare one; the two are then swapped. It copies nothing, and
///   readers do not wait for it. A reader may still meet a write in place and wait for it. The next writes of a large value then use
///   spare blocks, even if the value has no holder. After `remembered` writes without readers, writes are in place again, and the spare
///   blocks are freed.
/// - A write of some elements copies the value first. Readers of slices (`slice_reader`) do not count as holders: they last only for one
///   kernel. Such a write waits for them, and they wait for it.
///
/// A variable with in-place updates has one version only. Its writers take no lock: a concurrent reader may see some elements before and
/// some after a write.
class variable_state : public resource {
public:
    /// Makes a variable in a memory (null: the host's); `memory` is the allocator of its blocks.
    variable_state(const tensor_type& type, allocator& memory, const memory_space* space, bool in_place = false)
        : type_(type), memory_(memory), space_(space), in_place_(in_place), large_(type.bytes() > small_bytes) {}

    /// The maximum size of a small value, in bytes. Frames hold the versions of small variables from step to step. Writes of small
    /// values are too short to delay readers noticeably.
    static constexpr std::size_t small_bytes = 4096;

    const tensor_type& type() const noexcept { return type_; }
    const memory_space* space() const noexcept { return space_; }
    bool in_place() const noexcept { return in_place_; }
    static constexpr auto kind = "variable";

    std::string described() const override { return described(type_, space_, in_place_); }
    static std::string described(const tensor_type& type, const memory_space* space, bool in_place) {
        return kind + (" " + to_string(type)) + (space ? ", in memory of " + space->name : "") +
               (in_place ? ", updated in place" : "");
    }

    /// Restores a value from one part, which must have the variable's type.
    RILL_INLINE void restore_parts(std::span<const named_array> parts) override;
    RILL_INLINE void check_parts(std::span<const named_array> parts) const override;

    /// Writes a whole value outside of a step.
    void begin_with(const any_array& value);
    /// Returns the current version, or null if none has been assigned.
    std::shared_ptr<element_block> read() const;
    /// Reads the current version into `mine`, which belongs to a step that may write the variable too.
    void read(std::shared_ptr<element_block>& mine) const;

    /// Returns true if the variable has a value. Takes no lock.
    bool has_value() const noexcept { return newest_.load(std::memory_order_acquire); }
    /// Returns true if `held` is still the current version. Takes no lock.
    bool is_newest(const std::shared_ptr<element_block>& held) const noexcept {
        return held && held.get() == newest_.load(std::memory_order_acquire);
    }

    /// A read of some slices by one kernel. A concurrent write of some elements waits for it, instead of copying the value.
    class slice_reader {
    public:
        explicit slice_reader(const variable_state& v);
        slice_reader(const slice_reader&) = delete;
        ~slice_reader();
        const void* data() const noexcept { return value_->data(); }

    private:
        const variable_state& v_;
        std::shared_ptr<element_block> value_;
    };

    /// A write access to the variable. `mine` is the version that the step holds; its own reference does not count. `keeps`: the step
    /// goes on to hold the new version. Otherwise `mine` is null after the write, so that the next writer finds no holder.
    class writer {
    public:
        writer(variable_state& v, std::shared_ptr<element_block>& mine, variable_write how, bool keeps = true);
        writer(const writer&) = delete;
        ~writer() {
            if (has_turn_) end_turn();
        }
        /// Returns false if the variable has no value and the write needs one.
        bool ready() const noexcept { return to_; }
        /// Returns the address of the old elements. It equals `data()` unless the write uses a spare block.
        const void* was() const noexcept { return was_; }
        void* data() const noexcept { return to_; }
        /// Returns true if the write makes a new version; false if it changes the current one in place.
        bool is_new() const noexcept { return beside_; }
        /// Publishes the new version. Without a commit the old version stays, unless the op failed during a write in place.
        void commit() noexcept {
            if (beside_) publish();
        }

    private:
        void begin_in_place(bool keeps);
        void begin_in_turn(variable_write how, bool keeps);
        void begin_beside(variable_write how, bool keeps);
        void publish() noexcept;
        void end_turn() noexcept;

        variable_state& v_;
        std::shared_ptr<element_block>& mine_;
        std::unique_lock<std::mutex> lock_; // locks v.small_ during a write in place
        const void* was_ = nullptr;
        void* to_ = nullptr;
        bool has_turn_ = false; // holds v.write_mutex_
        bool beside_ = false;   // writes a spare block
        bool keeps_ = true;     // for a write to a spare block: `mine` keeps the new version
        variable_write how_{};  // the same
    };

    /// A hold on the current version, while a step starts work that reads or writes it in place. Nobody else begins to read or to write
    /// meanwhile. The work itself may end later, on a device that does its work in order.
    class hold {
    public:
        explicit hold(variable_state& v) : v_(&v), lock_(v.small_) {}

        /// Returns the address to read; null if there is no value, or if a writer is at work.
        void* to_read() const noexcept {
            const bool is_free = v_->writing_.load(std::memory_order_relaxed) == writing::in_place;
            return v_->value_ && is_free ? v_->value_->data() : nullptr;
        }
        /// Returns the address to write; null unless a writer would write in place at once. `mine` is the version that the step holds: if it
        /// is another one, the step reads that.
        void* to_write(const std::shared_ptr<element_block>& mine, variable_write how) const {
            if (!v_->value_ || (mine && mine != v_->value_)) return nullptr;
            if (!v_->in_place_ && !v_->is_undisturbed(mine, how)) return nullptr;
            if (v_->last_reader_) v_->follow_readers(&mine);
            return v_->value_->data();
        }
        /// Takes note of a write that has been started.
        void wrote(std::shared_ptr<element_block>& mine, bool keeps) const noexcept {
            mine = keeps ? v_->value_ : nullptr;
        }

    private:
        variable_state* v_;
        std::unique_lock<std::mutex> lock_; // locks small_
    };

private:
    static constexpr int remembered = 1000;
    static constexpr std::size_t most_spares = 8; // if all are held, a write drops the oldest

    enum class writing : std::uint8_t {
        in_place, // no writer, or one that holds small_
        beside,   // a writer fills a spare block; readers take the old value
        waits     // a writer of elements waits for the readers of slices, and new readers wait for it
    };

    std::unique_lock<std::mutex> lock_to_read() const;
    void note_reader() const noexcept {
        if (large_) awaited_.store(remembered, std::memory_order_relaxed);
    }
    long other_holders(const std::shared_ptr<element_block>& mine) const noexcept {
        return value_.use_count() - (mine == value_ ? 2 : 1);
    }
    /// Returns true if a write in place needs no turn: there is no writer beside the value, no other holder, and no reader is expected.
    bool is_undisturbed(const std::shared_ptr<element_block>& mine, variable_write how) const noexcept {
        return value_ && !in_place_ && writing_.load(std::memory_order_relaxed) == writing::in_place &&
               other_holders(mine) == 0 &&
               (how == variable_write::elements || awaited_.load(std::memory_order_relaxed) == 0);
    }
    /// Returns true if the writer whose turn it is may write in place. It may wait for readers of slices.
    bool may_write_in_place(std::unique_lock<std::mutex>& lock, const std::shared_ptr<element_block>& mine,
                            variable_write how);
    /// Orders the reads since the last write before the next one, in place.
    void follow_readers(const void* own);
    /// Moves an unheld spare block, or a new one, to the end of `spares_`.
    element_block& make_spare();

    const tensor_type type_;
    allocator& memory_;
    const memory_space* const space_; // the memory of the value; null: the host's
    const bool in_place_, large_;

    std::mutex write_mutex_;                      // for writers that can't write in place at once; locked before small_
    mutable std::mutex small_;                    // held to take or swap pointers, and by a write in place
    mutable std::condition_variable slices_read_; // signals the last end of a reader of slices, and the end of `waits`
    std::shared_ptr<element_block> value_;        // changes under both locks
    std::atomic<const element_block*> newest_{nullptr}; // value_.get(), compared without the lock
    vector<std::shared_ptr<element_block>> spares_;     // under write_mutex_: blocks of old versions, held or free
    mutable const void* last_reader_ = nullptr;         // under small_: the reader since the last write; this: several
    mutable std::atomic<int> awaited_{0};               // writes left that expect a reader
    mutable std::atomic<int> slice_readers_{0};         // readers of slices of any version
    std::atomic<writing> writing_{writing::in_place};   // changes under small_
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/resources/variable_state.ipp>
#endif
