// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/resources/element_order.hpp>
#include <rill/resources/element_slots.hpp>
#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The attributes of a queue's node.
struct queue_traits {
    std::string kind = {}; // TensorFlow's op name
    std::vector<tensor_type> components = {};
    index_t capacity = -1; // -1: no limit
    index_t reserve = 0;   // elements that stay while the queue is open: min_after_dequeue
    std::uint64_t seed = 0;
    bool random = false;
    bool pads = false;              // batches are padded with zeros to the longest element
    bool priority = false;          // elements leave in ascending order of the first component
    std::string when_full = "wait"; // or "drop_lowest", "refuse"

    /// Throws invalid_argument if an attribute is out of range.
    void check() const;
    std::string described() const;
};

/// A queue of tuples with two lines of waiters: one to enqueue, one to dequeue.
class RILL_EXPORT element_queue final : public waited_resource {
public:
    static constexpr auto kind = "queue";

    element_queue(queue_traits traits, std::string name, allocator& memory);

    std::string described() const override { return traits_.described(); }
    const std::vector<tensor_type>& components() const noexcept { return traits_.components; }
    allocator* memory() const noexcept override { return &slots_.memory(); }

    // Each function returns true if it completes at once, with outputs in `out`; otherwise it completes `wait` later. Errors known at once
    // are thrown.
    /// Enqueues one element, or the elements of a batch one by one as room appears.
    bool enqueue(std::vector<any_array> given, bool batch, async_context& wait);
    bool dequeue(async_context& wait, any_array* out);
    bool dequeue_many(index_t n, bool up_to, async_context& wait, any_array* out);
    /// Closes the queue. Pending enqueues complete first, or fail with `cancelled` if `cancel_pending_enqueues`. Throws `cancelled` if the
    /// queue is already closed and `cancel_pending_enqueues` is false.
    bool close(bool cancel_pending_enqueues, async_context& wait);
    index_t size() const;
    bool is_closed() const;
    /// Returns the state and the elements. "state": the numbers of elements and of random draws, and whether the queue is closed. "0", "1",
    /// …: the components, stacked in the order of the elements; if shapes differ, "0/0", "0/1", …: one by one. "waiting": how many of the
    /// last elements are not in the queue yet, because a queue runner waits for room. Other waiting steps are not saved. Elements that they
    /// have taken already are saved as still in the queue.
    RILL_INLINE std::vector<named_array> saved_parts() const override;
    RILL_INLINE void restore_parts(std::span<const named_array> parts) override;
    RILL_INLINE void check_parts(std::span<const named_array> parts) const override;

private:
    enum class form { enqueue, enqueue_many, dequeue, dequeue_many, dequeue_up_to, close };
    struct call : attempt {
        form what;
        std::vector<any_array> given = {};
        std::vector<std::int32_t> taken = {};
        bool is_saved = false;    // of a queue runner: its elements are part of the queue's state
        bool is_restored = false; // a saved one; no step waits for it
    };

    bool start(form what, index_t count, async_context& wait, any_array* out, std::vector<any_array> given = {});
    std::string described_kind() const override { return traits_.kind; }
    RILL_INLINE bool serve(attempt& a) override;
    RILL_INLINE attempt_ptr kept(attempt& a) override;
    RILL_INLINE void undo(attempt& a) override;
    void put(call& c);
    void take(call& c);
    index_t room() const;
    index_t available() const;
    void refuse_closed(const call& c) const;
    void check_element(std::span<const any_array> given, bool batch) const;
    /// Adds the elements that a waiting attempt has yet to put.
    void add_waiting(const call& c, std::vector<std::vector<any_array>>& to) const;
    /// The contents of a queue, as saved by saved_parts.
    struct contents {
        std::vector<std::vector<any_array>> elements = {};
        std::uint64_t drawn = 0;
        bool is_closed = false;
        std::size_t waiting = 0; // of the elements, the last ones
    };
    /// Parses saved parts into contents. Throws invalid_argument if they belong to another queue.
    contents contents_of(std::span<const named_array> parts) const;

    const queue_traits traits_;
    element_slots slots_;
    std::unique_ptr<element_order> order_;
    std::vector<std::int32_t> put_ = {}; // a member to reuse its memory
    bool closed_ = false;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <limits>
#include <utility>

#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void queue_traits::check() const {
    if (components.empty()) throw invalid_argument("a queue's elements have one component or more");
    check_capacity(capacity);
    if (reserve < 0 || (capacity >= 0 && reserve >= capacity))
        throw invalid_argument("min_after_dequeue is " + std::to_string(reserve) + ", of a capacity of " +
                               std::to_string(capacity) + ": it must be at least 0 and less than the capacity");
    if (when_full != "wait" && when_full != "drop_lowest" && when_full != "refuse")
        throw invalid_argument("when_full is '" + when_full + R"('; accepted are "wait", "drop_lowest" and "refuse")");
    for (const auto& c : components)
        if (pads && !c.shape.known_rank())
            throw invalid_argument("a padding_fifo_queue needs components of known rank");
    if (priority && components[0] != tensor_type{dtype::int64, dims{}})
        throw invalid_argument("the first component of a priority_queue is an int64 of rank 0");
}

RILL_COLD std::string queue_traits::described() const {
    std::string text = kind + " of " + tuple_text(components);
    if (capacity >= 0) text += ", capacity " + std::to_string(capacity);
    if (reserve > 0) text += ", min_after_dequeue " + std::to_string(reserve);
    if (when_full != "wait") text += ", when full: " + when_full;
    return text;
}

RILL_COLD element_queue::element_queue(queue_traits traits, std::string name, allocator& memory)
    : waited_resource(std::move(name), 2), traits_(std::move(traits)), slots_(traits_.components, memory),
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

RILL_INLINE bool element_queue::enqueue(std::vector<any_array> given, bool batch, async_context& wait) {
    check_element(given, batch);
    const index_t count = batch ? given[0].shape()[0] : 1;
    return start(batch ? form::enqueue_many : form::enqueue, count, wait, nullptr, std::move(given));
}

RILL_INLINE bool element_queue::dequeue(async_context& wait, any_array* out) {
    return start(form::dequeue, 1, wait, out);
}

RILL_INLINE bool element_queue::dequeue_many(index_t n, bool up_to, async_context& wait, any_array* out) {
    if (n < 0) throw invalid_argument(named() + ": " + std::to_string(n) + " elements are asked for");
    if (traits_.priority && traits_.capacity >= 0 && n > traits_.capacity && !(up_to && is_closed()))
        throw invalid_argument(named() + ": " + std::to_string(n) + " elements are asked for at once, it holds " +
                               std::to_string(traits_.capacity));
    return start(up_to ? form::dequeue_up_to : form::dequeue_many, n, wait, out);
}

RILL_INLINE bool element_queue::close(bool cancel_pending_enqueues, async_context& wait) {
    change([&] {
        const bool closing =
            detail::any_of(line(0), [](const auto& a) { return static_cast<const call&>(*a).what == form::close; });
        if (!cancel_pending_enqueues && (closed_ || closing)) throw cancelled(named() + " is already closed");
        closed_ = cancel_pending_enqueues;
    });
    return cancel_pending_enqueues || start(form::close, 0, wait, nullptr);
}

RILL_INLINE index_t element_queue::size() const {
    const std::lock_guard lock(mutex_);
    return static_cast<index_t>(order_->size());
}

RILL_INLINE bool element_queue::is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

RILL_INLINE bool element_queue::start(form what, index_t count, async_context& wait, any_array* out,
                                      std::vector<any_array> given) {
    const bool takes = what == form::dequeue || what == form::dequeue_many || what == form::dequeue_up_to;
    const step_context* const step = wait.step();
    const bool is_saved = !takes && what != form::close && step && step->gate;
    call made{{.count = count, .line = takes}, what, std::move(given), {}, is_saved};
    return waited_resource::start(std::move(made), wait, out);
}

RILL_INLINE waited_resource::attempt_ptr element_queue::kept(attempt& a) {
    auto& c = static_cast<call&>(a);
    for (auto& x : c.given)
        if (!x.memory()) x = owned_copy(x);
    return std::make_shared<call>(std::move(c));
}

RILL_INLINE index_t element_queue::room() const {
    if (traits_.capacity < 0) return std::numeric_limits<index_t>::max();
    return std::max<index_t>(traits_.capacity - static_cast<index_t>(order_->size()),
                             0); // the size may exceed the capacity: undo puts elements back
}

RILL_INLINE index_t element_queue::available() const {
    return std::max<index_t>(static_cast<index_t>(order_->size()) - (closed_ ? 0 : traits_.reserve), 0);
}

RILL_COLD void element_queue::refuse_closed(const call& c) const {
    if (c.what == form::enqueue || c.what == form::enqueue_many)
        throw cancelled(named() + " is closed: nothing is put into it any more");
    throw out_of_range(named() + " is closed and has insufficient elements (requested " + std::to_string(c.count) +
                       ", current size " + std::to_string(order_->size() + c.taken.size()) + ")");
}

RILL_INLINE bool element_queue::serve(attempt& a) {
    auto& c = static_cast<call&>(a);
    if (c.what == form::close)
        closed_ = true;
    else if (c.line == 0)
        put(c);
    else
        take(c);
    return c.done == c.count;
}

RILL_INLINE void element_queue::put(call& c) {
    if (closed_ && c.done < c.count) refuse_closed(c);
    while (c.done < c.count) {
        const index_t free = room();
        if (free == 0) {
            if (traits_.when_full == "wait") return;
            if (traits_.when_full == "refuse")
                throw resource_exhausted(named() + " is full: it holds " + std::to_string(order_->size()));
        }
        const index_t together = traits_.priority || free == 0 ? 1 : std::min(free, c.count - c.done);
        put_.resize(static_cast<std::size_t>(together));
        if (c.what == form::enqueue)
            put_[0] = slots_.put(std::move(c.given));
        else
            slots_.put(c.given, c.done, put_);
        if (traits_.priority)
            order_->put(put_[0], slots_.priority(put_[0]));
        else
            order_->put_all(put_);
        c.done += together;
        if (free > 0) continue;
        const auto lowest = order_->take_last(); // may be the new element
        slots_.drop({&lowest, 1});
    }
}

RILL_INLINE void element_queue::take(call& c) {
    // A batch leaves in priority order only if all its elements are there.
    if (traits_.priority && !closed_ && available() < c.count) return;
    if (c.what == form::dequeue && available() > 0) {
        c.outputs = slots_.take(order_->take());
        c.done = 1;
        return;
    }
    const index_t there = std::min(c.count - c.done, available());
    order_->take_many(static_cast<std::size_t>(there), c.taken);
    c.done += there;
    if (c.done < c.count) {
        if (!closed_) return;
        if (c.what != form::dequeue_up_to || c.done == 0) refuse_closed(c);
        c.count = c.done; // the rest of the closed queue
    }
    c.outputs = slots_.stacked(c.taken, traits_.pads);
    slots_.drop(c.taken);
    c.taken.clear();
}

/// Puts the elements taken so far back into the queue.
RILL_INLINE void element_queue::undo(attempt& a) {
    for (auto& taken = static_cast<call&>(a).taken; !taken.empty(); taken.pop_back())
        order_->put_back(taken.back(), traits_.priority ? slots_.priority(taken.back()) : 0);
}

}}} // namespace rill::RILL_ABI::detail
#endif

#if !RILL_COMPILED
#include <rill/resources/element_queue_state.ipp>
#endif
