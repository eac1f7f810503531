// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/algorithm.hpp>
#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A lock that one session holds at a time; any step of that session may release it. A failed step releases the lock that it took. A closed
/// session releases the lock that it holds.
class RILL_EXPORT mutex_state final : public waited_resource {
public:
    static constexpr auto kind = "mutex";

    explicit mutex_state(std::string name) : waited_resource(std::move(name)) {}

    static std::string described_as() { return kind; }
    std::string described() const override { return described_as(); }

    /// Returns true if the lock was taken at once; otherwise the attempt waits and completes `wait` later.
    bool acquire(const std::shared_ptr<cancellation>& session, const step_context* step, async_context& wait);
    /// Releases the lock. Throws failed_precondition if `session` does not hold it.
    void release(const cancellation* session);
    bool is_held() const;

private:
    std::string described_kind() const override { return kind; }
    RILL_INLINE bool serve(attempt& a) override;
    RILL_INLINE void give_back(holding& of) override;
    void session_over(const cancellation* session);

    bool held_ = false;
    taker by_;
    std::vector<std::pair<const cancellation*, cancellation::registration>> sessions_; // the end of each frees the lock
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE bool mutex_state::acquire(const std::shared_ptr<cancellation>& session, const step_context* step,
                                      async_context& wait) {
    const bool done = start({.by = {session.get(), held_by(step, true)}}, wait);
    if (!session) return done;
    const auto is_this = [&](const auto& known) { return known.first == session.get(); };
    {
        const std::lock_guard lock(mutex_);
        if (detail::any_of(sessions_, is_this)) return done;
        sessions_.emplace_back(session.get(), cancellation::registration());
    }
    // Registered last: if the session has already ended, the callback runs at once and releases the lock.
    auto registered = session->on_cancel(
        [self = std::weak_ptr(std::static_pointer_cast<mutex_state>(shared_from_this())), s = session.get()] {
            if (const auto m = self.lock()) m->session_over(s);
        });
    const std::lock_guard lock(mutex_);
    if (const auto at = detail::find_if(sessions_, is_this); at != sessions_.end()) at->second = std::move(registered);
    return done;
}

RILL_INLINE bool mutex_state::serve(attempt& a) {
    if (held_) return false;
    held_ = true;
    by_ = a.by;
    return true;
}

RILL_INLINE void mutex_state::release(const cancellation* session) {
    change([&] {
        if (!held_) throw failed_precondition(named() + " is not held: there is nothing to release");
        if (by_.session != session) throw failed_precondition(named() + " is held by another session");
        held_ = false;
    });
}

RILL_COLD bool mutex_state::is_held() const {
    const std::lock_guard lock(mutex_);
    return held_;
}

RILL_COLD void mutex_state::give_back(holding& of) {
    if (held_ && by_.step.get() == &of) held_ = false;
}

RILL_COLD void mutex_state::session_over(const cancellation* session) {
    change([&] {
        std::erase_if(sessions_, [&](const auto& known) { return known.first == session; });
        if (held_ && by_.session == session) held_ = false;
        refuse_waiting([&](const attempt& a) { return a.by.session == session; },
                       std::make_exception_ptr(cancelled(named() + ": the session has ended")));
    });
}

}}} // namespace rill::RILL_ABI::detail
#endif
