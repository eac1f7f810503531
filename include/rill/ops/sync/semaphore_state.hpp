// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/sync/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Permits, so many at first. They belong to nobody: who takes some sees to it that as many are given back.
class RILL_EXPORT semaphore_state final : public waited_resource {
public:
    static constexpr auto kind = "semaphore";

    semaphore_state(std::string name, index_t count) : waited_resource(std::move(name)), first_(count), left_(count) {}

    static std::string described_as(index_t count) { return std::string(kind) + " of " + std::to_string(count); }
    std::string described() const override { return described_as(first_); }

    /// Whether it is done; else `wait` hears of it. All n at once, or none.
    bool acquire(index_t n, waiting& wait);
    void release(index_t n);
    index_t value() const;

private:
    std::string described_kind() const override { return kind; }
    bool serve(attempt& a) override;
    void check_number(index_t n) const;

    const index_t first_;
    index_t left_;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <limits>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void semaphore_state::check_number(index_t n) const {
    if (n < 1) throw invalid_argument(named() + ": the number of permits is " + std::to_string(n) + ", not 1 or more");
}

RILL_INLINE bool semaphore_state::serve(attempt& a) {
    if (left_ < a.count) return false;
    left_ -= a.count;
    return true;
}

RILL_INLINE bool semaphore_state::acquire(index_t n, waiting& wait) {
    check_number(n);
    return start({.count = n}, wait);
}

RILL_INLINE void semaphore_state::release(index_t n) {
    check_number(n);
    change([&] {
        if (left_ > std::numeric_limits<index_t>::max() - n)
            throw resource_exhausted(named() + " can't hold " + std::to_string(n) + " more permits");
        left_ += n;
    });
}

RILL_INLINE index_t semaphore_state::value() const {
    const std::lock_guard lock(mutex_);
    return left_;
}

}}} // namespace rill::RILL_ABI::detail
#endif
