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

/// A resource that steps wait for, in lines that are served in their order: only the first in a line is tried. Every call is one step
/// under a lock, and no thread waits in here: what can't be done at once is done by whoever makes it possible.
class RILL_EXPORT waited_resource : public resource {
public:
    const std::string& name() const { return name_; }
    std::string named() const { return described_kind() + " '" + name_ + "'"; }
    RILL_INLINE void abandon() noexcept override;

protected:
    /// What a step has taken and not given back.
    struct holding {
        index_t count = 0;
    };
    /// For whom something is taken; null: it does not matter.
    struct taker {
        const session_end* session = nullptr;
        std::shared_ptr<holding> step = {}; // one for each step
    };
    struct attempt {
        index_t count = 1, done = 0; // what is asked for, and how much of it has come
        std::size_t line = 0;
        taker by = {};
        std::vector<any_array> outputs = {};
        std::exception_ptr problem = {};
        completion tell = {};
        bool over = false; // it has left the line, and is told
    };
    using attempt_ptr = std::shared_ptr<attempt>;

    explicit waited_resource(std::string name, std::size_t lines = 1) : name_(std::move(name)), lines_(lines) {}

    // Called under the lock.
    /// Whether the attempt, the first in its line, can be done now, and is; else part of it may be.
    virtual bool serve(attempt& a) = 0;
    /// One has come: so many wait in its line, with it.
    virtual void joined(index_t /*waiting*/) {}
    /// One that has to wait, with what it needs from its step, which may end before.
    virtual attempt_ptr kept(attempt& a) { return std::make_shared<attempt>(std::move(a)); }
    /// One that comes to nothing: what it has had so far goes back.
    virtual void undo(attempt& /*a*/) {}
    /// A step has failed: what it holds goes back.
    virtual void give_back(holding& /*of*/) {}

    /// Whether it is done; else `wait` hears of it. Outputs go to `out`.
    bool start(attempt&& now, async_context& wait, any_array* out = nullptr);
    /// What a step that may fail holds of this: one thing, however often it takes some. Null if it holds nothing, unless it is to.
    std::shared_ptr<holding> held_by(const step_context* step, bool to_hold);
    /// Does something under the lock, and what it makes possible.
    template <class F> void change(const F& what) {
        std::vector<attempt_ptr> told;
        {
            const std::lock_guard lock(mutex_);
            what();
            serve_lines();
            told.swap(told_);
        }
        tell(told);
    }
    /// Those who wait and that `which` says are told the error. Called within `change`.
    void refuse_waiting(const std::function<bool(const attempt&)>& which, const std::exception_ptr& problem);
    const std::deque<attempt_ptr>& line(std::size_t i) const { return lines_[i]; }

    virtual std::string described_kind() const = 0;

    mutable std::mutex mutex_;

private:
    struct let_go;

    bool finished(attempt& a);
    void serve_lines();
    void leave(attempt_ptr a);
    bool give_up(const attempt_ptr& a);
    /// Outside the lock: what is told may come back.
    static void tell(const std::vector<attempt_ptr>& told);

    const std::string name_;
    std::vector<std::deque<attempt_ptr>> lines_;
    std::vector<attempt_ptr> told_; // done, and not told yet
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct waited_resource::let_go {
    std::weak_ptr<waited_resource> from;
    std::shared_ptr<holding> held;

    void operator()() const {
        if (const auto r = from.lock()) r->change([&] { r->give_back(*held); });
    }
};

RILL_INLINE std::shared_ptr<waited_resource::holding> waited_resource::held_by(const step_context* step, bool to_hold) {
    if (!step || !step->on_failure) return nullptr;
    for (const auto& f : *step->on_failure)
        if (const auto* mine = f.target<let_go>(); mine && mine->from.lock().get() == this) return mine->held;
    if (!to_hold) return nullptr;
    auto held = std::make_shared<holding>();
    step->on_failure->push_back(let_go{std::static_pointer_cast<waited_resource>(shared_from_this()), held});
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
    told_.push_back(std::move(a));
}

/// Each line in turn, until nothing moves.
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

RILL_INLINE void waited_resource::tell(const std::vector<attempt_ptr>& told) {
    for (const auto& a : told) a->tell(a->problem, std::move(a->outputs));
}

RILL_INLINE bool waited_resource::start(attempt&& now, async_context& wait, any_array* out) {
    bool done = false;
    change([&] {
        auto& in = lines_[now.line];
        joined(static_cast<index_t>(in.size()) + 1);
        done = in.empty() && finished(now);
        if (done) return;
        const auto mine = kept(now);
        mine->tell =
            wait.defer([self = std::weak_ptr(std::static_pointer_cast<waited_resource>(shared_from_this())), mine] {
                const auto of = self.lock();
                return of ? of->give_up(mine) : !mine->over;
            });
        in.push_back(mine);
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
