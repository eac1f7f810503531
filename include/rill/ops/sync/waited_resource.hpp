// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rill/core/resource.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A resource that steps wait for, in one line that is served in its order: only the first is tried. Every call is one step under a
/// lock, and no thread waits in here: what can't be done at once is done by whoever makes it possible.
class RILL_EXPORT waited_resource : public resource {
public:
    const std::string& name() const { return name_; }
    void abandon() noexcept override;

protected:
    /// For whom something is taken; null: it does not matter.
    struct taker {
        const session_end* session = nullptr;
        std::shared_ptr<const int> step = {}; // one for each step
    };
    struct attempt {
        index_t count = 1;
        taker by = {};
        std::vector<any_array> outputs = {};
        std::exception_ptr problem = {};
        completion tell = {};
        bool over = false; // it has left the line, and is told
    };

    explicit waited_resource(std::string name) : name_(std::move(name)) {}

    // Called under the lock.
    /// Whether the attempt, the first in line, can be done now, and is.
    virtual bool serve(attempt& a) = 0;
    /// One has come: so many wait, with it.
    virtual void joined(index_t /*waiting*/) {}

    /// Whether it is done; else `wait` hears of it. Outputs go to `out`.
    bool start(attempt now, waiting& wait, any_array* out = nullptr);
    /// Does something under the lock, and what it makes possible.
    void change(const std::function<void()>& what);
    /// Those who wait and that `which` says are told the error. Called within `change`.
    void refuse_waiting(const std::function<bool(const attempt&)>& which, const std::exception_ptr& problem);

    std::string named() const { return described_kind() + " '" + name_ + "'"; }
    virtual std::string described_kind() const = 0;

    mutable std::mutex mutex_;

private:
    using attempt_ptr = std::shared_ptr<attempt>;

    bool finished(attempt& a);
    void serve_line();
    void leave(attempt_ptr a);
    bool give_up(const attempt_ptr& a);
    /// Outside the lock: what is told may come back.
    static void tell(const std::vector<attempt_ptr>& told);

    const std::string name_;
    std::deque<attempt_ptr> line_;
    std::vector<attempt_ptr> told_; // done, and not told yet
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE bool waited_resource::finished(attempt& a) {
    try {
        return serve(a);
    } catch (...) {
        a.problem = std::current_exception();
        return true;
    }
}

RILL_INLINE void waited_resource::leave(attempt_ptr a) {
    a->over = true;
    told_.push_back(std::move(a));
}

RILL_INLINE void waited_resource::serve_line() {
    while (!line_.empty() && finished(*line_.front())) {
        leave(std::move(line_.front()));
        line_.pop_front();
    }
}

RILL_INLINE void waited_resource::tell(const std::vector<attempt_ptr>& told) {
    for (const auto& a : told) a->tell(a->problem, std::move(a->outputs));
}

RILL_INLINE bool waited_resource::start(attempt now, waiting& wait, any_array* out) {
    bool done = false;
    change([&] {
        joined(static_cast<index_t>(line_.size()) + 1);
        done = line_.empty() && finished(now);
        if (done) return;
        const auto kept = std::make_shared<attempt>(std::move(now));
        kept->tell =
            wait.later([self = std::weak_ptr(std::static_pointer_cast<waited_resource>(shared_from_this())), kept] {
                const auto of = self.lock();
                return of ? of->give_up(kept) : !kept->over;
            });
        line_.push_back(kept);
    });
    if (!done) return false;
    if (now.problem) std::rethrow_exception(now.problem);
    std::ranges::move(now.outputs, out);
    return true;
}

RILL_INLINE void waited_resource::change(const std::function<void()>& what) {
    std::vector<attempt_ptr> told;
    {
        const std::lock_guard lock(mutex_);
        what();
        serve_line();
        told.swap(told_);
    }
    tell(told);
}

RILL_COLD void waited_resource::refuse_waiting(const std::function<bool(const attempt&)>& which,
                                               const std::exception_ptr& problem) {
    std::erase_if(line_, [&](const attempt_ptr& a) {
        if (!which(*a)) return false;
        a->problem = problem;
        leave(a);
        return true;
    });
}

RILL_COLD bool waited_resource::give_up(const attempt_ptr& a) {
    bool waited = false;
    change([&] { waited = std::erase(line_, a) > 0; });
    return waited;
}

RILL_COLD void waited_resource::abandon() noexcept {
    change([&] {
        refuse_waiting([](const attempt&) { return true; },
                       std::make_exception_ptr(cancelled(named() + " is gone: its container was reset")));
    });
}

}}} // namespace rill::RILL_ABI::detail
#endif
