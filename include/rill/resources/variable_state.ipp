// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/variable_state.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/any_array.hpp>
#include <rill/core/shared.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Orders the reads of a block's former holders before what the caller writes to it. use_count() reads the count without
/// synchronizing. The end of this copy changes the count with acquire and release, after the ends of the holders' copies.
inline void follow_former_holders(const std::shared_ptr<element_block>& block) { const auto copy = block; }

RILL_INLINE std::unique_lock<std::mutex> variable_state::lock_to_read() const {
    std::unique_lock lock(small_, std::try_to_lock);
    if (!lock.owns_lock()) {
        note_reader(); // before the lock: writers that wait for the lock then let this reader pass
        lock.lock();
    }
    if (writing_.load(std::memory_order_relaxed) != writing::in_place) {
        note_reader();
        slices_read_.wait(lock, [&] { return writing_.load(std::memory_order_relaxed) != writing::waits; });
    }
    return lock;
}

RILL_INLINE std::shared_ptr<element_block> variable_state::read() const {
    const auto lock = lock_to_read();
    last_reader_ = this;
    return value_;
}

RILL_INLINE void variable_state::read(std::shared_ptr<element_block>& mine) const {
    mine.reset(); // not under the lock: it may free an old version
    const auto lock = lock_to_read();
    last_reader_ = !last_reader_ || last_reader_ == &mine ? static_cast<const void*>(&mine) : this;
    mine = value_;
}

RILL_INLINE variable_state::slice_reader::slice_reader(const variable_state& v) : v_(v) {
    const auto lock = v.lock_to_read();
    v.last_reader_ = &v;
    v.slice_readers_.fetch_add(1, std::memory_order_relaxed);
    value_ = v.value_;
}

RILL_INLINE variable_state::slice_reader::~slice_reader() {
    value_.reset(); // first: a writer that counts fewer holders than readers of slices waits
    if (v_.slice_readers_.fetch_sub(1) > 1 || v_.writing_.load() != writing::waits) return;
    const std::lock_guard lock(v_.small_); // the writer has looked at the count and sleeps, or has yet to look
    v_.slices_read_.notify_all();
}

RILL_INLINE variable_state::writer::writer(variable_state& v, std::shared_ptr<element_block>& mine, variable_write how,
                                           bool keeps)
    : v_(v), mine_(mine), lock_(v.small_) {
    if (v.is_undisturbed(mine, how))
        begin_in_place(keeps);
    else
        begin_in_turn(how, keeps);
}

RILL_INLINE void variable_state::writer::begin_in_place(bool keeps) {
    if (v_.last_reader_) v_.follow_readers(&mine_);
    was_ = to_ = v_.value_->data();
    if (!keeps)
        mine_.reset();
    else if (mine_ != v_.value_)
        mine_ = v_.value_;
}

RILL_COLD void variable_state::follow_readers(const void* own) {
    if (last_reader_ != own) follow_former_holders(value_); // the step's own reads are in order
    last_reader_ = nullptr;
}

RILL_COLD void variable_state::writer::begin_in_turn(variable_write how, bool keeps) {
    if (v_.in_place_ && v_.value_) {
        mine_ = v_.value_;
        was_ = to_ = mine_->data();
        lock_.unlock(); // in-place updates run concurrently
        return;
    }
    lock_.unlock();
    v_.write_mutex_.lock();
    has_turn_ = true;
    try {
        lock_.lock();
        if (!v_.value_ && how != variable_write::initialises) return; // no value: the caller reports it
        if (v_.value_ && v_.may_write_in_place(lock_, mine_, how)) return begin_in_place(keeps);
        v_.writing_.store(writing::beside, std::memory_order_relaxed);
        beside_ = true;
        lock_.unlock();
        begin_beside(how, keeps);
    } catch (...) {
        end_turn(); // no destructor runs
        throw;
    }
}

RILL_COLD bool variable_state::may_write_in_place(std::unique_lock<std::mutex>& lock,
                                                  const std::shared_ptr<element_block>& mine, variable_write how) {
    const long others = other_holders(mine);
    if (how == variable_write::elements) {
        if (others == 0) return true;
        if (others > slice_readers_.load()) return false;
        writing_.store(writing::waits); // not relaxed: a reader of slices that ends sees it, or this sees its end
        slices_read_.wait(lock, [&] { return slice_readers_.load() == 0; });
        writing_.store(writing::in_place);
        slices_read_.notify_all();
        return other_holders(mine) == 0;
    }
    const int awaited = awaited_.load(std::memory_order_relaxed);
    if (others > 0)
        note_reader();
    else if (awaited > 0)
        awaited_.store(awaited - 1, std::memory_order_relaxed);
    else
        return true;
    return false;
}

/// Chooses the block to write, without small_: no other thread changes `value_` or `spares_` now.
RILL_COLD void variable_state::writer::begin_beside(variable_write how, bool keeps) {
    how_ = how;
    keeps_ = keeps;
    if (!keeps || mine_ != v_.value_) mine_.reset(); // the block of an old version may be free then
    const auto& spare = v_.make_spare();
    to_ = spare.data();
    was_ = v_.value_ ? v_.value_->data() : to_;
    if (how == variable_write::elements) {
        copy_between(v_.space_, was_, v_.space_, to_, v_.type_.type, v_.type_.shape.size());
        was_ = to_;
    }
}

RILL_COLD element_block& variable_state::make_spare() {
    const auto free = detail::find_if(spares_, [](const auto& s) { return s.use_count() == 1; });
    if (free != spares_.end()) {
        std::swap(*free, spares_.back());
        follow_former_holders(spares_.back());
    } else {
        // At least one element: kernels recognize a missing value by a null address.
        const memory_purpose purpose(
            [](const void* v) { return described(static_cast<const variable_state*>(v)->type_, nullptr, false); },
            this);
        auto made = std::make_shared<element_block>(memory_, type_.type, std::max<index_t>(type_.shape.size(), 1));
        if (spares_.size() == most_spares) spares_.erase(spares_.begin(), spares_.begin() + 1);
        spares_.push_back(std::move(made));
    }
    return *spares_.back();
}

RILL_COLD void variable_state::writer::publish() noexcept {
    auto& spare = v_.spares_.back();
    lock_.lock();
    v_.value_.swap(spare);
    v_.newest_.store(v_.value_.get(), std::memory_order_release);
    v_.last_reader_ = nullptr;
    if (keeps_) mine_ = v_.value_;
    const bool drops_all = v_.large_ && v_.awaited_.load(std::memory_order_relaxed) == 0;
    v_.writing_.store(writing::in_place, std::memory_order_relaxed);
    beside_ = false;
    lock_.unlock();
    // blocks go after the lock, still in this writer's turn
    if (drops_all)
        v_.spares_.clear();
    else if (!spare || how_ == variable_write::elements)
        v_.spares_.pop_back();
}

RILL_COLD void variable_state::writer::end_turn() noexcept {
    if (beside_) { // not committed
        const std::lock_guard lock(v_.small_);
        v_.writing_.store(writing::in_place, std::memory_order_relaxed);
    }
    v_.write_mutex_.unlock();
}

RILL_COLD void variable_state::check_parts(std::span<const named_array> parts) const {
    if (parts.size() != 1 || parts[0].value.type() != type_)
        throw invalid_argument("the variable is " + to_string(type_) + ", the saved value " +
                               (parts.empty() ? std::string("is missing") : "is " + to_string(parts[0].value.type())));
}

RILL_COLD void variable_state::restore_parts(std::span<const named_array> parts) {
    check_parts(parts);
    begin_with(parts[0].value);
}

RILL_COLD void variable_state::begin_with(const any_array& value) {
    std::shared_ptr<element_block> mine;
    writer to(*this, mine, variable_write::initialises);
    copy_between(value.space(), value.data(), space_, to.data(), type_.type, type_.shape.size());
    to.commit();
}

}}} // namespace rill::RILL_ABI::detail
