// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/start_queue_runners.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

namespace rill { inline namespace RILL_ABI {

namespace detail {

using operation_call = callable<std::tuple<operation>>;

/// Starts an operation and calls `then` at its end. Ignores its error, such as that of closing a queue that others may have closed.
inline void start_quietly(const operation_call& call, const std::function<void()>& then) {
    try {
        call.start([then](std::exception_ptr, const auto&) { then(); });
    } catch (const error&) {
        then();
    }
}

/// The filling of a queue by all of its runners. The last runner that reaches the end of its input closes the queue.
class queue_filling {
public:
    void add_runner(std::size_t steps) { left_ += steps; }
    /// Calls `then` once all runners have reached the end of their input; at once if they have.
    void on_filled(std::function<void()> then) {
        {
            const std::lock_guard lock(mutex_);
            if (left_ > 0) return filled_.push_back(std::move(then));
        }
        then();
    }
    /// Notes that a runner has reached the end of its input. Returns true for the last one.
    bool end_one() {
        std::vector<std::function<void()>> all;
        {
            const std::lock_guard lock(mutex_);
            if (--left_ > 0) return false;
            all.swap(filled_);
        }
        for (const auto& then : all) then();
        return true;
    }

private:
    std::mutex mutex_;
    std::size_t left_ = 0;
    std::vector<std::function<void()>> filled_;
};

/// A loop that runs an enqueue operation again and again, without a thread of its own.
struct queue_filler : std::enable_shared_from_this<queue_filler> {
    queue_filler(const coordinator& c, step_gate& g, operation_call p, operation_call cl,
                 std::shared_ptr<queue_filling> f, std::function<void(std::exception_ptr)> e)
        : all(c), gate(g.shared_from_this()), put(std::move(p)), close(std::move(cl)), filling(std::move(f)),
          end(std::move(e)) {}

    /// Starts the next step, or keeps it until a save has read the session's state.
    void start_next() {
        gate->start([self = shared_from_this()] { self->start_now(); });
    }
    void start_now() {
        if (all.should_stop()) return end(nullptr);
        try {
            put.start([self = shared_from_this()](std::exception_ptr problem, const auto&) {
                if (problem)
                    self->fail(problem);
                else
                    self->start_next();
            });
        } catch (...) { // a save that opens the gate can't handle it
            fail(std::current_exception());
        }
    }
    void fail(const std::exception_ptr& problem) {
        try {
            std::rethrow_exception(problem);
        } catch (const cancelled&) {
            end(all.should_stop() ? nullptr : problem);
        } catch (const out_of_range&) { // the end of the input
            if (!filling->end_one()) return end(nullptr);
            start_quietly(close, [self = shared_from_this()] { self->end(nullptr); });
        } catch (...) {
            end(problem);
        }
    }

    const coordinator all;
    const std::shared_ptr<step_gate> gate;
    const operation_call put, close;
    const std::shared_ptr<queue_filling> filling;
    const std::function<void(std::exception_ptr)> end;
};

/// A watcher that cancels the pending enqueues of a queue on a stop request. It ends once the queue is filled.
struct queue_canceller : std::enable_shared_from_this<queue_canceller> {
    queue_canceller(operation_call c, std::function<void(std::exception_ptr)> e)
        : cancel(std::move(c)), end(std::move(e)) {}

    void listen(const coordinator& all, queue_filling& filling) {
        auto registered = all.token().on_cancel([self = shared_from_this()] {
            if (self->finish()) start_quietly(self->cancel, [self] { self->end(nullptr); });
        });
        {
            const std::lock_guard lock(mutex);
            if (over) return;
            stop = std::move(registered);
        }
        filling.on_filled([self = shared_from_this()] {
            if (self->finish()) self->end(nullptr);
        });
    }
    /// Returns true for the first call.
    bool finish() {
        cancellation::registration withdrawn; // holds this object
        const std::lock_guard lock(mutex);
        std::swap(withdrawn, stop);
        return !std::exchange(over, true);
    }

    const operation_call cancel;
    const std::function<void(std::exception_ptr)> end;
    std::mutex mutex;
    bool over = false;
    cancellation::registration stop;
};

} // namespace detail

RILL_COLD std::vector<coordinated_thread> start_queue_runners(const session& s, const coordinator& c) {
    std::map<const node*, std::shared_ptr<detail::queue_filling>> by_queue;
    std::vector<std::pair<detail::queue_runner_note, std::shared_ptr<detail::queue_filling>>> runners;
    for (auto& note : detail::queue_runners_of(s.graph())) {
        if (!s.core_->first_time(note.name)) continue;
        auto& filling = by_queue[note.close->inputs[0].from];
        if (!filling) filling = detail::make_shared<detail::queue_filling>();
        filling->add_runner(note.enqueue.size());
        runners.emplace_back(std::move(note), filling);
    }
    std::vector<coordinated_thread> threads;
    for (const auto& [note, filling] : runners) {
        const auto close = s.make_callable(operation(note.close));
        for (const auto* n : note.enqueue) {
            auto [thread, end] = c.start(note.name + "/" + n->name);
            threads.push_back(std::move(thread));
            auto& gate = s.core_->background();
            const auto put = s.make_callable(operation(n)).with({.cancel = c.token(), .gate = &gate});
            detail::make_shared<detail::queue_filler>(c, gate, put, close, filling, std::move(end))->start_next();
        }
        auto [thread, end] = c.start(note.name + "/cancel");
        threads.push_back(std::move(thread));
        detail::make_shared<detail::queue_canceller>(s.make_callable(operation(note.cancel)), std::move(end))
            ->listen(c, *filling);
    }
    return threads;
}

}} // namespace rill::RILL_ABI
