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

/// A resource with FIFO lines of waiting steps; only the first attempt of a line is tried. Every call runs under one lock and blocks no
/// thread. The call that makes a waiting attempt possible also completes it.
class RILL_EXPORT waited_resource : public resource {
public:
    const std::string& name() const { return name_; }
    std::string named() const { return described_kind() + " '" + name_ + "'"; }
    RILL_INLINE void abandon() noexcept override;

protected:
    /// The amount that one step has taken and not returned.
    struct holding {
        index_t count = 0;
    };
    /// The session and the step that an attempt acts for; null where the resource does not use them.
    struct taker {
        const cancellation* session = nullptr;
        std::shared_ptr<holding> step = {}; // one per step and resource
    };
    struct attempt {
        index_t count = 1, done = 0; // the amount requested, and the amount obtained so far
        std::size_t line = 0;
        taker by = {};
        std::vector<any_array> outputs = {};
        std::exception_ptr problem = {};
        completion tell = {};
        bool over = false; // has left its line; its completion follows
    };
    using attempt_ptr = std::shared_ptr<attempt>;

    explicit waited_resource(std::string name, std::size_t lines = 1) : name_(std::move(name)), lines_(lines) {}

    // The virtual functions below are called under the lock.
    /// Serves the first attempt of its line, fully or in part. Returns true if the attempt is done.
    virtual bool serve(attempt& a) = 0;
    /// Notifies the resource that an attempt has joined a line. `waiting` counts the attempts in that line, this one included.
    virtual void joined(index_t /*waiting*/) {}
    /// Returns an attempt that can wait in a line. Overrides copy the data that the step may free before.
    virtual attempt_ptr kept(attempt& a) { return std::make_shared<attempt>(std::move(a)); }
    /// Releases the amount that a failed or withdrawn attempt has obtained.
    virtual void undo(attempt& /*a*/) {}
    /// Releases the amount that a failed step holds.
    virtual void give_back(holding& /*of*/) {}

    /// Returns true if the attempt is done at once, with its outputs in `out`; throws its error. Otherwise the attempt waits and completes
    /// `wait` later.
    bool start(attempt&& now, async_context& wait, any_array* out = nullptr);
    /// Returns the step's holding of this resource, one per step. Returns null if the step has no undo functions, or if it holds nothing
    /// and `to_hold` is false.
    std::shared_ptr<holding> held_by(const step_context* step, bool to_hold);
    /// Runs `what` under the lock and serves the lines. Completes the served attempts after the lock is released.
    template <class F> void change(const F& what) {
        std::vector<attempt_ptr> completed;
        {
            const std::lock_guard lock(mutex_);
            what();
            serve_lines();
            completed.swap(finished_);
        }
        tell(completed);
    }
    /// Fails the waiting attempts that `which` selects, with the error `problem`. Call it within `change`.
    void refuse_waiting(const std::function<bool(const attempt&)>& which, const std::exception_ptr& problem);
    const std::deque<attempt_ptr>& line(std::size_t i) const { return lines_[i]; }
    /// Adds an attempt of no step to the end of its line. Call it within `change`.
    void join(attempt_ptr a) {
        a->tell = [](std::exception_ptr, std::vector<any_array>) {};
        auto& in = lines_[a->line];
        in.push_back(std::move(a));
    }

    virtual std::string described_kind() const = 0;

    mutable std::mutex mutex_;

private:
    struct release_on_failure;

    bool finished(attempt& a);
    void serve_lines();
    void leave(attempt_ptr a);
    bool give_up(const attempt_ptr& a);
    /// Calls the completions, outside the lock: a completion may call this resource again.
    static void tell(const std::vector<attempt_ptr>& completed);

    const std::string name_;
    std::vector<std::deque<attempt_ptr>> lines_;
    std::vector<attempt_ptr> finished_; // finished attempts whose completions are still to be called
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct waited_resource::release_on_failure {
    std::weak_ptr<waited_resource> from;
    std::shared_ptr<holding> held;

    void operator()() const {
        if (const auto r = from.lock()) r->change([&] { r->give_back(*held); });
    }
};

RILL_INLINE std::shared_ptr<waited_resource::holding> waited_resource::held_by(const step_context* step, bool to_hold) {
    if (!step || !step->on_failure) return nullptr;
    for (const auto& f : *step->on_failure)
        if (const auto* mine = f.target<release_on_failure>(); mine && mine->from.lock().get() == this)
            return mine->held;
    if (!to_hold) return nullptr;
    auto held = std::make_shared<holding>();
    step->on_failure->push_back(
        release_on_failure{std::static_pointer_cast<waited_resource>(shared_from_this()), held});
    return held;
}

RILL_INLINE bool waited_resource::finished(attempt& a) {
    try {
        return serve(a);
    } catch (...) {
        undo(a);
        a.problem = std::current_exception();
        return true;
    }
}

RILL_INLINE void waited_resource::leave(attempt_ptr a) {
    a->over = true;
    finished_.push_back(std::move(a));
}

/// Serves each line in turn until none makes progress.
RILL_INLINE void waited_resource::serve_lines() {
    for (bool moves = true; std::exchange(moves, false);)
        for (auto& in : lines_)
            while (!in.empty()) {
                auto& first = *in.front();
                const index_t before = first.done;
                const bool over = finished(first);
                moves = moves || over || first.done != before;
                if (!over) break;
                leave(std::move(in.front()));
                in.pop_front();
            }
}

RILL_INLINE void waited_resource::tell(const std::vector<attempt_ptr>& completed) {
    for (const auto& a : completed) a->tell(a->problem, std::move(a->outputs));
}

RILL_INLINE bool waited_resource::start(attempt&& now, async_context& wait, any_array* out) {
    bool done = false;
    change([&] {
        auto& in = lines_[now.line];
        joined(static_cast<index_t>(in.size()) + 1);
        done = in.empty() && finished(now);
        if (done) return;
        attempt_ptr mine;
        try {
            mine = kept(now);
            mine->tell =
                wait.defer([self = std::weak_ptr(std::static_pointer_cast<waited_resource>(shared_from_this())), mine] {
                    const auto of = self.lock();
                    return of ? of->give_up(mine) : !mine->over;
                });
            in.push_back(mine);
        } catch (...) { // out of memory
            undo(mine ? *mine : now);
            throw;
        }
    });
    if (!done) return false;
    if (now.problem) std::rethrow_exception(now.problem);
    std::move(now.outputs.begin(), now.outputs.end(), out);
    return true;
}

RILL_COLD void waited_resource::refuse_waiting(const std::function<bool(const attempt&)>& which,
                                               const std::exception_ptr& problem) {
    for (auto& in : lines_)
        std::erase_if(in, [&](const attempt_ptr& a) {
            if (!which(*a)) return false;
            undo(*a);
            a->problem = problem;
            leave(a);
            return true;
        });
}

RILL_COLD bool waited_resource::give_up(const attempt_ptr& a) {
    bool waited = false;
    change([&] {
        waited = std::erase(lines_[a->line], a) > 0;
        if (waited) undo(*a);
    });
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
