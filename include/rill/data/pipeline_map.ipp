// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/pipeline.hpp>

#include <deque>
#include <mutex>
#include <utility>

#include <rill/core/executor.hpp>
#include <rill/core/hash.hpp>
#include <rill/data/pipeline.ipp>
#include <rill/data/pipeline_tasks.ipp>

// Map: functions of elements, called one at a time or by tasks of the environment.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The numbers of the elements for a map's calls. They differ between epochs and iterations.
class element_numbers {
public:
    explicit element_numbers(const iterate_request& r) : base_(hash_combine(r.epoch, r.iteration)) {}
    std::uint64_t next() { return hash_combine(base_, count_++); }
    void save(iterator_archive& to) const { to.put(static_cast<std::int64_t>(count_)); }
    void restore(iterator_archive& from) { count_ = static_cast<std::uint64_t>(from.number()); }

private:
    const std::uint64_t base_;
    std::uint64_t count_ = 0;
};

class map_iterator final : public iterator_over {
public:
    map_iterator(const element_source& from, const element_function& f, const iterate_request& r)
        : iterator_over(from.iterate(r)), f_(f), numbers_(r) {}
    bool next(element_arrays& to, const pull_context& context) override {
        if (in_.empty()) {
            element_arrays one;
            if (!from_->next(one, context)) return false;
            in_ = std::move(one);
        }
        auto numbers = numbers_; // an element's number is taken when its call has ended
        const auto number = numbers.next();
        const auto call = [&] { return f_(context.locks ? element_arrays(in_) : std::move(in_), number); };
        try {
            to = context.without_locks(call);
        } catch (...) {
            end_call();
            throw;
        }
        end_call();
        return true;
    }
    void save(iterator_archive& to) override {
        numbers_.save(to);
        to.put(in_);
        from_->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        numbers_.restore(from);
        in_ = from.element();
        from_->restore(from, context);
    }

private:
    void end_call() {
        in_.clear();
        numbers_.next();
    }

    const element_function f_;
    element_numbers numbers_;
    element_arrays in_; // the element of the running call
};

inline element_source_ptr sequential_map_source(element_source_ptr from, std::vector<tensor_type> components,
                                                element_function f) {
    return source_over(
        from, std::move(components), "map",
        [from, f = std::move(f)](const iterate_request& r) { return std::make_unique<map_iterator>(*from, f, r); },
        false);
}

/// An element of a parallel map.
struct mapped_element {
    element_arrays in; // stays until the result is taken, for the saved state
    std::uint64_t number = 0;
    pulled_element result = {};
    enum { waiting, running, done } stage = waiting;
};

struct parallel_map_state : task_state {
    element_function f;
    int running = 0;

    explicit parallel_map_state(std::unique_ptr<held_bytes> bytes) : memory(std::move(bytes)) {}

    const std::unique_ptr<held_bytes> memory; // of the elements and the results

    /// Runs the function of an element, unless another thread does or the element is no longer needed.
    void run_waiting(mapped_element& e) {
        std::unique_lock lock(mutex);
        if (stop || e.stage != mapped_element::waiting) return;
        e.stage = mapped_element::running;
        ++running;
        lock.unlock();
        pulled_element result;
        try {
            const executor::blocked_thread here; // the function may wait
            result.arrays = f(element_arrays(e.in), e.number);
        } catch (...) {
            result.problem = std::current_exception();
        }
        lock.lock();
        keep_counted(*memory, result);
        e.result = std::move(result);
        e.stage = mapped_element::done;
        --running;
        changed->notify();
    }
};

class parallel_map_iterator final : public iterator_over {
public:
    parallel_map_iterator(const element_source& from, const element_function& f, std::size_t parallel,
                          const iterate_request& r)
        : iterator_over(from.iterate(r)), parallel_(parallel), numbers_(r),
          state_(std::make_shared<parallel_map_state>(std::make_unique<held_bytes>(r.memory, "map"))) {
        state_->f = f;
    }
    ~parallel_map_iterator() override {
        std::unique_lock lock(state_->mutex);
        state_->stop = true;
        while (state_->running > 0) state_->changed->wait(lock, environment::time_point::max());
        state_->memory->clear(); // a posted task may keep the state for a while
    }
    bool is_ready() override { // next() pulls first where the window has room
        if (window_.size() < parallel_ && !is_over_ && !from_->is_ready()) return false;
        const std::lock_guard lock(state_->mutex);
        return !window_.empty() && window_.front()->stage == mapped_element::done;
    }
    bool next(element_arrays& to, const pull_context& context) override {
        auto& s = *state_;
        if (!s.changed) {
            s.changed = context.environment.make_signal();
            for (const auto& e : window_) post(e, context.environment); // of a restored state
        }
        while (window_.size() < parallel_ && !is_over_) {
            auto got = pull(*from_, context);
            is_over_ = got.is_end;
            if (is_over_) break;
            const auto number = got.problem ? 0 : numbers_.next();
            add(std::move(got), number);
            post(window_.back(), context.environment);
        }
        if (window_.empty()) return false;
        const auto first = window_.front();
        std::unique_lock lock(s.mutex);
        if (first->stage == mapped_element::waiting) { // no task has begun: this thread is faster
            lock.unlock();
            context.without_locks([&] { s.run_waiting(*first); });
            lock.lock();
        }
        while (first->stage != mapped_element::done) s.wait(lock, context);
        s.memory->remove(first->in);
        s.memory->remove(first->result.arrays);
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
            to.put(static_cast<std::int64_t>(e->number));
        }
        numbers_.save(to);
        from_->save(to);
    }
    /// Restores without calling the program's functions: a state may be restored only to check it.
    void restore(iterator_archive& from, const pull_context& context) override {
        is_over_ = from.number() != 0;
        for (auto n = from.count(); n > 0; --n) {
            auto got = from.number() != 0 ? restore_pulled(from) : pulled_element{.arrays = from.element()};
            const auto number = static_cast<std::uint64_t>(from.number());
            add(std::move(got), number);
        }
        numbers_.restore(from);
        from_->restore(from, context);
    }

private:
    void add(pulled_element got, std::uint64_t number) {
        auto e = std::make_shared<mapped_element>();
        e->number = number;
        if (!got.problem) {
            const std::lock_guard lock(state_->mutex);
            state_->memory->add(got.arrays);
        }
        if (got.problem) {
            e->result = std::move(got);
            e->stage = mapped_element::done;
        } else {
            e->in = std::move(got.arrays);
        }
        window_.push_back(std::move(e));
    }
    void post(const std::shared_ptr<mapped_element>& e, environment& env) {
        if (!e->in.empty()) env.post([s = state_, e] { s->run_waiting(*e); }); // otherwise its pull failed
    }

    const std::size_t parallel_;
    element_numbers numbers_;
    const std::shared_ptr<parallel_map_state> state_;
    std::deque<std::shared_ptr<mapped_element>> window_; // of the pulling thread; the lock guards its elements
    bool is_over_ = false;
};

RILL_COLD element_source_ptr map_source(element_source_ptr from, std::vector<tensor_type> components,
                                        element_function f, int parallel) {
    check_at_least("the number of parallel calls", parallel, 1);
    if (parallel == 1) return sequential_map_source(std::move(from), std::move(components), std::move(f));
    return make_source(
        std::move(components), from->described() + ".map(parallel)", true,
        [from, f = std::move(f), parallel](const iterate_request& r) {
            return std::make_unique<parallel_map_iterator>(*from, f, static_cast<std::size_t>(parallel), r);
        },
        {}, from->seeds());
}

}}} // namespace rill::RILL_ABI::detail
