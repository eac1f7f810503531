// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/pipeline.hpp>

#include <deque>
#include <mutex>
#include <utility>

#include <rill/core/executor.hpp>
#include <rill/data/pipeline.ipp>
#include <rill/data/pipeline_tasks.ipp>

// Prefetch: a task of the environment pulls elements ahead.

namespace rill { inline namespace RILL_ABI { namespace detail {

struct prefetch_state : task_state {
    explicit prefetch_state(std::unique_ptr<held_bytes> bytes) : memory(std::move(bytes)) {}

    const std::unique_ptr<held_bytes> memory;
    std::unique_ptr<element_iterator> from;
    pull_lock lock; // of `from`; taken before the mutex
    std::size_t limit = 0;
    bool to_device = false;              // elements are copied to the memory in which the last step wanted one
    const memory_space* space = nullptr; // that memory; null: the host's
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
    /// Pulls an element, and copies it to a device.
    static pulled_element pull_to(const memory_space* space, prefetch_state& s, const pull_context& context) {
        auto got = pull(*s.from, context);
        try {
            if (s.to_device && !got.problem && !got.is_end) bring_to(space, got.arrays);
        } catch (...) {
            got = {.problem = std::current_exception()};
        }
        return got;
    }
    static void fill(prefetch_state& s, environment& env) {
        std::unique_lock lock(s.mutex);
        while (s.has_room()) {
            s.is_pulling = true;
            const auto* const space = s.space;
            lock.unlock();
            const std::unique_lock pulling(s.lock);
            const held_locks locks{s.lock};
            pulled_element got;
            bool is_wanted = true;
            try {
                const executor::blocked_thread here; // the pipeline may wait
                got = pull_to(space, s, {env, nullptr, &s.stop, &locks});
            } catch (...) {
                is_wanted = false; // the iterator was stopped
            }
            lock.lock();
            if (is_wanted) s.take(std::move(got));
            s.finish_pull();
        }
        s.has_task = false;
    }
    void take(pulled_element got) {
        if (got.is_end) {
            is_over = true;
            return;
        }
        keep_counted(*memory, got);
        buffer.push_back(std::move(got));
    }
};

inline std::string described_prefetch(std::size_t limit, bool to_device) {
    return (to_device ? "prefetch_to_device(" : "prefetch(") + std::to_string(limit) + ")";
}

class prefetch_iterator final : public element_iterator {
public:
    prefetch_iterator(const element_source& from, std::size_t limit, bool to_device, const iterate_request& r)
        : state_(std::make_shared<prefetch_state>(
              std::make_unique<held_bytes>(r.memory, described_prefetch(limit, to_device)))) {
        state_->from = from.iterate(r);
        state_->limit = limit;
        state_->to_device = to_device;
    }
    ~prefetch_iterator() override {
        std::unique_lock lock(state_->mutex);
        state_->stop = true;
        while (state_->is_pulling) state_->changed->wait(lock, environment::time_point::max());
        state_->memory->clear(); // a posted task may keep the state for a while
    }
    bool is_ready() override {
        const std::lock_guard lock(state_->mutex);
        return state_->is_over || !state_->buffer.empty();
    }
    bool next(element_arrays& to, const pull_context& context) override {
        auto& s = *state_;
        std::unique_lock lock(s.mutex);
        if (!s.changed) s.changed = context.environment.make_signal();
        s.space = context.space;
        while (s.buffer.empty() && !s.is_over) {
            if (s.is_pulling) {
                s.wait(lock, context);
                continue;
            }
            s.is_pulling = true; // no task has begun: this thread is faster
            lock.unlock();
            const std::unique_lock pulling(s.lock);
            const held_locks locks{s.lock, context.locks};
            auto inner = context;
            if (context.locks) inner.locks = &locks;
            pulled_element got;
            try {
                got = prefetch_state::pull_to(context.space, s, inner);
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
        s.memory->remove(got.arrays);
        prefetch_state::fill_later(state_, context.environment);
        lock.unlock();
        return got.give(to);
    }
    void save(iterator_archive& to) override {
        auto& s = *state_;
        if (!s.lock.lock_to_save())
            throw deadline_exceeded("the state of a prefetch can't be saved: its input has been in one call for 30 s");
        const std::unique_lock saving(s.lock, std::adopt_lock);
        const std::lock_guard lock(s.mutex);
        to.put(static_cast<std::int64_t>(s.is_over));
        to.put(static_cast<std::int64_t>(s.buffer.size()));
        for (const auto& e : s.buffer) save_pulled(to, e);
        s.from->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        state_->is_over = from.number() != 0;
        for (auto n = from.count(); n > 0; --n) {
            state_->buffer.push_back(restore_pulled(from));
            state_->memory->add(state_->buffer.back().arrays);
        }
        state_->from->restore(from, context);
    }

private:
    const std::shared_ptr<prefetch_state> state_;
};

RILL_COLD element_source_ptr prefetch_source(element_source_ptr from, index_t buffer, bool to_device) {
    check_at_least(to_device ? "the buffer of prefetch_to_device" : "the buffer of prefetch", buffer, 1);
    const auto limit = static_cast<std::size_t>(buffer);
    return make_source(
        from->components(), from->described() + "." + described_prefetch(limit, to_device), true,
        [=](const iterate_request& r) { return std::make_unique<prefetch_iterator>(*from, limit, to_device, r); },
        names_of(from), from->seeds());
}

}}} // namespace rill::RILL_ABI::detail
