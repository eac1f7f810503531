// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/pipeline.hpp>

#include <chrono>
#include <deque>
#include <mutex>
#include <utility>

#include <rill/core/executor.hpp>
#include <rill/data/pipeline.ipp>

// Transformations that work ahead, in tasks of the environment.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The state that an iterator shares with its tasks. A task works only while `stop` is false; the iterator waits for those that do.
struct task_state {
    std::mutex mutex;
    std::unique_ptr<environment::signal> changed; // made with the first element
    std::atomic<bool> stop{false};

    /// Waits for a change, or for a moment: then it is time to see if the step is over.
    void wait(std::unique_lock<std::mutex>& lock, const pull_context& context) {
        context.check();
        changed->wait(lock, context.environment.now_plus(std::chrono::milliseconds(20)));
        context.check();
    }
};

struct prefetch_state : task_state {
    std::unique_ptr<element_iterator> from;
    std::size_t limit = 0;
    std::deque<pulled_element> buffer;
    bool is_pulling = false, has_task = false, is_over = false;

    bool has_room() const { return !stop && !is_over && !is_pulling && buffer.size() < limit; }
    void finish_pull() {
        is_pulling = false;
        changed->notify();
    }
    /// Posts the task that fills the buffer, unless there is one.
    static void fill_later(const std::shared_ptr<prefetch_state>& s, environment& env) {
        if (!s->has_room() || std::exchange(s->has_task, true)) return;
        env.post([s, &env] { fill(*s, env); });
    }
    static void fill(prefetch_state& s, environment& env) {
        std::unique_lock lock(s.mutex);
        while (s.has_room()) {
            s.is_pulling = true;
            lock.unlock();
            pulled_element got;
            bool is_wanted = true;
            try {
                const executor::blocked_thread here; // the pipeline may wait
                got = pull(*s.from, {env, nullptr, &s.stop});
            } catch (...) {
                is_wanted = false; // it was stopped
            }
            lock.lock();
            if (is_wanted) s.take(std::move(got));
            s.finish_pull();
        }
        s.has_task = false;
    }
    void take(pulled_element got) {
        if (got.is_end)
            is_over = true;
        else
            buffer.push_back(std::move(got));
    }
};

class prefetch_iterator final : public element_iterator {
public:
    prefetch_iterator(std::unique_ptr<element_iterator> from, std::size_t limit) {
        state_->from = std::move(from);
        state_->limit = limit;
    }
    ~prefetch_iterator() override {
        std::unique_lock lock(state_->mutex);
        state_->stop = true;
        while (state_->is_pulling) state_->changed->wait(lock, environment::time_point::max());
    }
    bool is_ready() override {
        const std::lock_guard lock(state_->mutex);
        return state_->is_over || !state_->buffer.empty();
    }
    bool next(element_arrays& to, const pull_context& context) override {
        auto& s = *state_;
        std::unique_lock lock(s.mutex);
        if (!s.changed) s.changed = context.environment.make_signal();
        while (s.buffer.empty() && !s.is_over) {
            if (s.is_pulling) {
                s.wait(lock, context);
                continue;
            }
            s.is_pulling = true; // no task has begun: this thread is sooner
            lock.unlock();
            pulled_element got;
            try {
                got = pull(*s.from, context);
            } catch (...) {
                lock.lock();
                s.finish_pull();
                throw;
            }
            lock.lock();
            s.take(std::move(got));
            s.finish_pull();
        }
        if (s.buffer.empty()) return false;
        auto got = std::move(s.buffer.front());
        s.buffer.pop_front();
        prefetch_state::fill_later(state_, context.environment);
        lock.unlock();
        return got.give(to);
    }
    void save(iterator_archive& to) override {
        auto& s = *state_;
        std::unique_lock lock(s.mutex);
        while (s.is_pulling) s.changed->wait(lock, environment::time_point::max());
        to.put(static_cast<std::int64_t>(s.is_over));
        to.put(static_cast<std::int64_t>(s.buffer.size()));
        for (const auto& e : s.buffer) save_pulled(to, e);
        s.from->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        state_->is_over = from.number() != 0;
        for (auto n = from.count(); n > 0; --n) state_->buffer.push_back(restore_pulled(from));
        state_->from->restore(from, context);
    }

private:
    const std::shared_ptr<prefetch_state> state_ = std::make_shared<prefetch_state>();
};

RILL_COLD element_source_ptr prefetch_source(element_source_ptr from, index_t buffer) {
    check_at_least("the buffer of prefetch", buffer, 1);
    return make_source(
        from->components(), from->described() + ".prefetch(" + std::to_string(buffer) + ")", true,
        [=](const iterate_request& r) {
            return std::make_unique<prefetch_iterator>(from->iterate(r), static_cast<std::size_t>(buffer));
        },
        names_of(from));
}

/// An element of a parallel map.
struct mapped_element {
    element_arrays in; // stays until the result is taken, for the saved state
    pulled_element result = {};
    enum { waiting, running, done } stage = waiting;
};

struct parallel_map_state : task_state {
    element_function f;
    int running = 0;

    /// Runs the function of an element that waits. Call it with the lock, which is released meanwhile.
    void run(std::unique_lock<std::mutex>& lock, mapped_element& e) {
        e.stage = mapped_element::running;
        ++running;
        lock.unlock();
        pulled_element result;
        try {
            const executor::blocked_thread here; // the function may wait
            result.arrays = f(element_arrays(e.in));
        } catch (...) {
            result.problem = std::current_exception();
        }
        lock.lock();
        e.result = std::move(result);
        e.stage = mapped_element::done;
        --running;
        changed->notify();
    }
};

class parallel_map_iterator final : public iterator_over {
public:
    parallel_map_iterator(std::unique_ptr<element_iterator> from, const element_function& f, std::size_t parallel)
        : iterator_over(std::move(from)), parallel_(parallel) {
        state_->f = f;
    }
    ~parallel_map_iterator() override {
        std::unique_lock lock(state_->mutex);
        state_->stop = true;
        while (state_->running > 0) state_->changed->wait(lock, environment::time_point::max());
    }
    bool is_ready() override {
        const std::lock_guard lock(state_->mutex);
        return !window_.empty() && window_.front()->stage == mapped_element::done;
    }
    bool next(element_arrays& to, const pull_context& context) override {
        auto& s = *state_;
        if (!s.changed) s.changed = context.environment.make_signal();
        while (window_.size() < parallel_ && !is_over_) {
            auto got = pull(*from_, context);
            is_over_ = got.is_end;
            if (!is_over_) add(std::move(got), context.environment);
        }
        if (window_.empty()) return false;
        const auto first = window_.front();
        std::unique_lock lock(s.mutex);
        if (first->stage == mapped_element::waiting) s.run(lock, *first); // no task has begun: this thread is sooner
        while (first->stage != mapped_element::done) s.wait(lock, context);
        lock.unlock();
        window_.pop_front();
        return first->result.give(to);
    }
    void save(iterator_archive& to) override {
        to.put(static_cast<std::int64_t>(is_over_));
        to.put(static_cast<std::int64_t>(window_.size()));
        for (const auto& e : window_) {
            const std::lock_guard lock(state_->mutex);
            const bool has_failed = e->in.empty();
            to.put(static_cast<std::int64_t>(has_failed));
            has_failed ? save_pulled(to, e->result) : to.put(e->in);
        }
        from_->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        state_->changed = context.environment.make_signal();
        is_over_ = from.number() != 0;
        for (auto n = from.count(); n > 0; --n)
            add(from.number() != 0 ? restore_pulled(from) : pulled_element{.arrays = from.element()},
                context.environment);
        from_->restore(from, context);
    }

private:
    void add(pulled_element got, environment& env) {
        auto e = std::make_shared<mapped_element>();
        if (got.problem) {
            e->result = std::move(got);
            e->stage = mapped_element::done;
        } else {
            e->in = std::move(got.arrays);
            env.post([s = state_, e] {
                std::unique_lock lock(s->mutex);
                if (!s->stop && e->stage == mapped_element::waiting) s->run(lock, *e);
            });
        }
        window_.push_back(std::move(e));
    }

    const std::size_t parallel_;
    const std::shared_ptr<parallel_map_state> state_ = std::make_shared<parallel_map_state>();
    std::deque<std::shared_ptr<mapped_element>> window_; // of this thread alone; its elements are under the lock
    bool is_over_ = false;
};

RILL_COLD element_source_ptr map_source(element_source_ptr from, std::vector<tensor_type> components,
                                        element_function f, int parallel) {
    check_at_least("the number of parallel calls", parallel, 1);
    if (parallel == 1) return sequential_map_source(std::move(from), std::move(components), std::move(f));
    return make_source(std::move(components), from->described() + ".map(parallel)", true,
                       [from, f = std::move(f), parallel](const iterate_request& r) {
                           return std::make_unique<parallel_map_iterator>(from->iterate(r), f,
                                                                          static_cast<std::size_t>(parallel));
                       });
}

}}} // namespace rill::RILL_ABI::detail
