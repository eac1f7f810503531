// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/variable_state.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include <rill/core/any_array.hpp>
#include <rill/core/shared.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE std::shared_ptr<element_block> variable_state::read() const {
    const std::lock_guard lock(mutex_);
    lent_ = true;
    return value_;
}

RILL_INLINE variable_state::writer::writer(variable_state& v, std::shared_ptr<element_block>& mine, bool whole)
    : v_(v), mine_(mine), lock_(v.mutex_) {
    if (!v_.value_ && !whole) return; // no value: the caller reports it
    if (v_.in_place_ && v_.value_) {
        mine_ = v_.value_;
        ready_ = true;
        lock_.unlock(); // in-place updates run concurrently
        return;
    }
    const bool held = mine_ && mine_ == v_.value_;
    if (!v_.value_ || v_.value_.use_count() > 1 + (held ? 1 : 0)) { // another step holds it
        // At least one element: kernels recognize a missing value by a null address.
        mine_ = std::make_shared<element_block>(v_.memory_, v_.type_.type, std::max<index_t>(v_.type_.shape.size(), 1));
        if (v_.value_ && !whole)
            copy_between(v_.space_, v_.value_->data(), v_.space_, mine_->data(), v_.type_.type, v_.type_.shape.size());
    } else {
        if (std::exchange(v_.lent_, false)) {
            // Orders the last holders' reads before our write: use_count() alone reads the count without synchronizing.
            const auto after_the_holders = v_.value_;
#if !defined(__SANITIZE_THREAD__) // it does not model fences; libstdc++, which is used with it, needs none
            std::atomic_thread_fence(std::memory_order_acquire);
#endif
        }
        if (!held) mine_ = v_.value_;
    }
    ready_ = true;
}

RILL_COLD void variable_state::restore_parts(std::span<const named_array> parts) {
    if (parts.size() != 1 || parts[0].value.type() != type_)
        throw invalid_argument("the variable is " + to_string(type_) + ", the saved value " +
                               (parts.empty() ? std::string("is missing") : "is " + to_string(parts[0].value.type())));
    begin_with(parts[0].value);
}

RILL_COLD void variable_state::begin_with(const any_array& value) {
    std::shared_ptr<element_block> mine;
    writer to(*this, mine, true);
    copy_between(value.space(), value.data(), space_, to.data(), type_.type, type_.shape.size());
    to.commit();
}

}}} // namespace rill::RILL_ABI::detail
