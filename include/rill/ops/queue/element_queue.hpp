// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rill/core/resource.hpp>
#include <rill/device/kernel.hpp>
#include <rill/ops/queue/element_order.hpp>
#include <rill/ops/queue/element_slots.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What a queue is, as its node says it.
struct queue_traits {
    std::string kind = {}; // TensorFlow's name of the op
    std::vector<tensor_type> components = {};
    index_t capacity = -1; // -1: no limit
    index_t reserve = 0;   // so many stay while it is open
    std::uint64_t seed = 0;
    bool random = false;
    bool pads = false;              // batches are filled up to the longest element
    bool priority = false;          // the first component says who leaves first
    std::string when_full = "wait"; // or "drop_lowest", "refuse"

    /// Throws invalid_argument.
    void check() const;
    std::string described() const;
};

/// A queue of tuples. Two lines wait, one to put in and one to take out, each served in its order: only the first in a line is tried.
/// Every call is one step under a lock, and no thread waits in here: what can't be done at once is done by whoever makes it possible.
class RILL_EXPORT element_queue final : public resource {
public:
    static constexpr auto kind = "queue";

    element_queue(queue_traits traits, std::string name, allocator& memory);

    std::string described() const override { return traits_.described(); }
    const std::string& name() const { return name_; }

    // Each returns whether it is done; else `wait` hears of it. Outputs go to `out`. Errors that are known at once are thrown.
    bool enqueue(std::span<const any_array> element, waiting& wait);
    bool enqueue_many(std::span<const any_array> batch, waiting& wait);
    bool dequeue(waiting& wait, any_array* out);
    bool dequeue_many(index_t n, bool up_to, waiting& wait, any_array* out);
    /// What waits to be put in goes in before, or is told `cancelled`.
    bool close(bool cancel_pending_enqueues, waiting& wait);
    index_t size() const;
    bool is_closed() const;

    void abandon() noexcept override;

private:
    enum class form { enqueue, enqueue_many, dequeue, dequeue_many, dequeue_up_to, close };
    struct attempt {
        form what;
        index_t count = 1, done = 0;
        std::vector<any_array> batch = {};
        std::vector<std::int32_t> taken = {};
        std::vector<any_array> outputs = {};
        std::exception_ptr problem = {};
        completion tell = {};
        bool over = false;
    };
    using attempt_ptr = std::shared_ptr<attempt>;
    using line = std::deque<attempt_ptr>;

    bool start(attempt now, line& in, waiting& wait, any_array* out);
    bool finished(attempt& a); // or it has to wait; a problem is noted in it
    void put(attempt& a);
    void take(attempt& a);
    void serve_both(std::vector<attempt_ptr>& told);
    void put_back(attempt& a);
    bool give_up(const attempt_ptr& a);
    bool has_room() const { return traits_.capacity < 0 || static_cast<index_t>(order_->size()) < traits_.capacity; }
    index_t available() const;
    std::exception_ptr closed_error(const attempt& a) const;
    std::string named() const { return "queue '" + name_ + "' (" + traits_.kind + ")"; }
    void check_element(std::span<const any_array> given, bool batch) const;
    static void tell(const std::vector<attempt_ptr>& told);

    const queue_traits traits_;
    const std::string name_;
    mutable std::mutex mutex_;
    element_slots slots_;
    std::unique_ptr<element_order> order_;
    line to_put_, to_take_;
    bool closed_ = false;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <utility>

#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void queue_traits::check() const {
    if (components.empty()) throw invalid_argument("a queue's elements have one component or more");
    check_capacity(capacity);
    if (reserve < 0 || (capacity >= 0 && reserve >= capacity))
        throw invalid_argument("min_after_dequeue is " + std::to_string(reserve) + ", of a capacity of " +
                               std::to_string(capacity) + ": it must be less, and not below 0");
    if (when_full != "wait" && when_full != "drop_lowest" && when_full != "refuse")
        throw invalid_argument("'" + when_full + "' is nothing that a full queue does");
    for (const auto& c : components)
        if (pads && !c.shape.known_rank())
            throw invalid_argument("of every component of a padding_fifo_queue the rank must be known");
    if (priority && components[0] != tensor_type{dtype::int64, dims{}})
        throw invalid_argument("the first component of a priority_queue is an int64 of rank 0");
}

RILL_COLD std::string queue_traits::described() const {
    std::string text = kind + " of (";
    for (std::size_t i = 0; i < components.size(); ++i) text += (i ? ", " : "") + to_string(components[i]);
    text += ")";
    if (capacity >= 0) text += ", capacity " + std::to_string(capacity);
    if (reserve > 0) text += ", min_after_dequeue " + std::to_string(reserve);
    if (when_full != "wait") text += ", when full: " + when_full;
    return text;
}

RILL_COLD element_queue::element_queue(queue_traits traits, std::string name, allocator& memory)
    : traits_(std::move(traits)), name_(std::move(name)), slots_(traits_.components, memory),
      order_(traits_.priority ? by_priority()
             : traits_.random ? in_random_order(traits_.seed)
                              : first_in_first_out()) {}

RILL_INLINE void element_queue::check_element(std::span<const any_array> given, bool batch) const {
    const auto refuse = [&](const std::string& why) { throw invalid_argument(named() + ": " + why); };
    if (given.size() != traits_.components.size())
        refuse("its elements have " + std::to_string(traits_.components.size()) + " components, not " +
               std::to_string(given.size()));
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto& wanted = traits_.components[i];
        const auto& is = given[i].type();
        const auto which = [&] { return "component " + std::to_string(i) + " is " + to_string(wanted); };
        if (is.type != wanted.type) refuse(which() + ", not " + to_string(is));
        if (!batch) {
            if (is.shape != wanted.shape && !rules::compatible(is.shape, wanted.shape))
                refuse(which() + ", not " + to_string(is));
            continue;
        }
        if (is.shape.rank < 1 || is.shape[0] != given[0].shape()[0])
            refuse("a batch has the elements along its first axis, of one extent; " + to_string(given[0].type()) +
                   " and " + to_string(is) + " have not");
        if (!rules::compatible(rules::slice(is.shape), wanted.shape))
            refuse(which() + ", a batch has not the shape " + to_string(is.shape));
    }
}

RILL_INLINE bool element_queue::enqueue(std::span<const any_array> element, waiting& wait) {
    check_element(element, false);
    return start({form::enqueue, 1, 0, {element.begin(), element.end()}}, to_put_, wait, nullptr);
}

RILL_INLINE bool element_queue::enqueue_many(std::span<const any_array> batch, waiting& wait) {
    check_element(batch, true);
    return start({form::enqueue_many, batch[0].shape()[0], 0, {batch.begin(), batch.end()}}, to_put_, wait, nullptr);
}

RILL_INLINE bool element_queue::dequeue(waiting& wait, any_array* out) {
    return start({form::dequeue}, to_take_, wait, out);
}

RILL_INLINE bool element_queue::dequeue_many(index_t n, bool up_to, waiting& wait, any_array* out) {
    if (n < 0) throw invalid_argument(named() + ": " + std::to_string(n) + " elements are asked for");
    if (traits_.priority && traits_.capacity >= 0 && n > traits_.capacity)
        throw invalid_argument(named() + ": " + std::to_string(n) + " elements are asked for at once, it holds " +
                               std::to_string(traits_.capacity));
    return start({up_to ? form::dequeue_up_to : form::dequeue_many, n}, to_take_, wait, out);
}

RILL_INLINE bool element_queue::close(bool cancel_pending_enqueues, waiting& wait) {
    std::vector<attempt_ptr> told;
    bool done = false;
    {
        const std::lock_guard lock(mutex_);
        const bool closing = std::ranges::any_of(to_put_, [](const auto& a) { return a->what == form::close; });
        if (closed_ || (closing && !cancel_pending_enqueues)) throw cancelled(named() + " is already closed");
        if (cancel_pending_enqueues) {
            closed_ = done = true;
            serve_both(told);
        }
    }
    tell(told);
    return done || start({form::close, 0}, to_put_, wait, nullptr);
}

RILL_INLINE index_t element_queue::size() const {
    const std::lock_guard lock(mutex_);
    return static_cast<index_t>(order_->size());
}

RILL_INLINE bool element_queue::is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

RILL_INLINE bool element_queue::start(attempt now, line& in, waiting& wait, any_array* out) {
    std::vector<attempt_ptr> told;
    bool done = false;
    {
        const std::lock_guard lock(mutex_);
        done = in.empty() && finished(now);
        if (!done) {
            // its arrays may be borrowed from the step, which may end before
            for (auto& a : now.batch) a = owned_copy(a);
            const auto kept = std::make_shared<attempt>(std::move(now));
            kept->tell =
                wait.later([self = std::weak_ptr(std::static_pointer_cast<element_queue>(shared_from_this())), kept] {
                    const auto queue = self.lock();
                    return queue ? queue->give_up(kept) : !kept->over;
                });
            in.push_back(kept);
        }
        if (!to_put_.empty() || !to_take_.empty()) serve_both(told);
    }
    tell(told);
    if (!done) return false;
    if (now.problem) std::rethrow_exception(now.problem);
    std::ranges::move(now.outputs, out);
    return true;
}

RILL_INLINE index_t element_queue::available() const {
    return std::max<index_t>(static_cast<index_t>(order_->size()) - (closed_ ? 0 : traits_.reserve), 0);
}

RILL_COLD std::exception_ptr element_queue::closed_error(const attempt& a) const {
    if (a.what == form::enqueue || a.what == form::enqueue_many)
        return std::make_exception_ptr(cancelled(named() + " is closed: nothing is put into it any more"));
    return std::make_exception_ptr(out_of_range(named() + " is closed and has insufficient elements (requested " +
                                                std::to_string(a.count) + ", current size " +
                                                std::to_string(order_->size()) + ")"));
}

RILL_INLINE bool element_queue::finished(attempt& a) {
    try {
        if (a.what == form::close) {
            closed_ = true;
            return true;
        }
        if (a.what == form::enqueue || a.what == form::enqueue_many)
            put(a);
        else
            take(a);
    } catch (...) {
        put_back(a);
        a.problem = std::current_exception();
    }
    return a.problem || a.done == a.count;
}

RILL_INLINE void element_queue::put(attempt& a) {
    if (closed_ && a.done < a.count) {
        a.problem = closed_error(a);
        return;
    }
    while (a.done < a.count) {
        if (!has_room()) {
            if (traits_.when_full == "wait") return;
            if (traits_.when_full == "refuse")
                throw resource_exhausted(named() + " is full: it holds " + std::to_string(order_->size()));
        }
        const auto slot = a.what == form::enqueue ? slots_.put(a.batch) : slots_.put(a.batch, a.done);
        order_->put(slot, traits_.priority ? slots_.priority(slot) : 0);
        ++a.done;
        if (traits_.capacity >= 0 && static_cast<index_t>(order_->size()) > traits_.capacity)
            slots_.drop(order_->take_last()); // the lowest, perhaps this one
    }
}

RILL_INLINE void element_queue::take(attempt& a) {
    // in order of priority only if they are all there
    if (traits_.priority && !closed_ && available() < a.count) return;
    if (a.what == form::dequeue && available() > 0) {
        a.outputs = slots_.take(order_->take());
        a.done = 1;
        return;
    }
    while (a.done < a.count && available() > 0) {
        a.taken.push_back(order_->take());
        ++a.done;
    }
    if (a.done < a.count) {
        if (!closed_) return;
        if (a.what != form::dequeue_up_to || a.done == 0) {
            put_back(a);
            a.problem = closed_error(a);
            return;
        }
        a.count = a.done; // what is left
    }
    a.outputs = slots_.stacked(a.taken, traits_.pads);
    for (const auto slot : a.taken) slots_.drop(slot);
    a.taken.clear();
}

RILL_INLINE void element_queue::put_back(attempt& a) {
    for (; !a.taken.empty(); a.taken.pop_back())
        order_->put_back(a.taken.back(), traits_.priority ? slots_.priority(a.taken.back()) : 0);
}

/// Each line in turn, until nothing moves.
RILL_INLINE void element_queue::serve_both(std::vector<attempt_ptr>& told) {
    for (bool moves = true; std::exchange(moves, false);)
        for (line* in : {&to_put_, &to_take_})
            while (!in->empty()) {
                const auto first = in->front();
                const index_t before = first->done;
                const bool over = finished(*first);
                moves = moves || over || first->done != before;
                if (!over) break;
                in->pop_front();
                first->over = true;
                told.push_back(first);
            }
}

/// Outside the lock: what is told may come back.
RILL_INLINE void element_queue::tell(const std::vector<attempt_ptr>& told) {
    for (const auto& a : told) a->tell(a->problem, std::move(a->outputs));
}

RILL_COLD bool element_queue::give_up(const attempt_ptr& a) {
    std::vector<attempt_ptr> told;
    {
        const std::lock_guard lock(mutex_);
        auto& in =
            a->what == form::enqueue || a->what == form::enqueue_many || a->what == form::close ? to_put_ : to_take_;
        const auto at = std::ranges::find(in, a);
        if (at == in.end()) return false;
        in.erase(at);
        put_back(*a);
        serve_both(told); // those behind it
    }
    tell(told);
    return true;
}

RILL_COLD void element_queue::abandon() noexcept {
    std::vector<attempt_ptr> told;
    {
        const std::lock_guard lock(mutex_);
        for (line* in : {&to_put_, &to_take_}) {
            for (auto& a : *in) {
                put_back(*a);
                a->problem = std::make_exception_ptr(cancelled(named() + " is gone: its container was reset"));
                a->over = true;
                told.push_back(a);
            }
            in->clear();
        }
    }
    tell(told);
}

}}} // namespace rill::RILL_ABI::detail
#endif
