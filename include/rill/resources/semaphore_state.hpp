// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A counting semaphore. Permits that a running step has acquired belong to it and return if it fails. After the step has succeeded, any
/// step may release them.
class RILL_EXPORT semaphore_state final : public waited_resource {
public:
    static constexpr auto kind = "semaphore";

    semaphore_state(std::string name, index_t count) : waited_resource(std::move(name)), first_(count), left_(count) {}

    static std::string described_as(index_t count) { return std::string(kind) + " of " + std::to_string(count); }
    std::string described() const override { return described_as(first_); }

    /// Acquires all n permits together or waits. Returns true if done at once; otherwise it completes `wait` later.
    bool acquire(index_t n, const step_context* step, async_context& wait);
    void release(index_t n, const step_context* step);
    index_t value() const;

private:
    std::string described_kind() const override { return kind; }
    RILL_INLINE bool serve(attempt& a) override;
    RILL_INLINE void give_back(holding& of) override;
    void check_number(index_t n) const;

    const index_t first_;
    index_t left_;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <limits>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void semaphore_state::check_number(index_t n) const {
    if (n < 1) throw invalid_argument(named() + ": the number of permits is " + std::to_string(n) + ", not 1 or more");
}

RILL_INLINE bool semaphore_state::serve(attempt& a) {
    if (left_ < a.count) return false;
    left_ -= a.count;
    if (a.by.step) a.by.step->count += a.count;
    return true;
}

RILL_COLD void semaphore_state::give_back(holding& of) {
    left_ += std::min(std::exchange(of.count, 0), std::numeric_limits<index_t>::max() - left_);
}

RILL_INLINE bool semaphore_state::acquire(index_t n, const step_context* step, async_context& wait) {
    check_number(n);
    return start({.count = n, .by = {.step = held_by(step, true)}}, wait);
}

RILL_INLINE void semaphore_state::release(index_t n, const step_context* step) {
    check_number(n);
    const auto held = held_by(step, false);
    change([&] {
        if (left_ > std::numeric_limits<index_t>::max() - n)
            throw resource_exhausted(named() + " can't hold " + std::to_string(n) + " more permits");
        left_ += n;
        if (held) held->count -= std::min(held->count, n);
    });
}

RILL_INLINE index_t semaphore_state::value() const {
    const std::lock_guard lock(mutex_);
    return left_;
}

}}} // namespace rill::RILL_ABI::detail
#endif
