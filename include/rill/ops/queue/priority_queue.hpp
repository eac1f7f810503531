// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue.hpp>

namespace rill { inline namespace RILL_ABI {

/// A queue whose elements leave by their first component, the smallest number first. Equal ones leave in the order of their arrival.
struct priority_queue_op : detail::queue_maker<priority_queue_op> {
    static constexpr auto name = "PriorityQueue", label = "priority_queue";
    static void settle(detail::queue_traits& t) { t.priority = true; }
    static void fields(auto& op, auto& visit) {
        common_fields(op, visit);
        visit("when_full", op.traits.when_full);
    }
};

/// The action of a full queue on one more element: wait, drop the lowest priority (the largest number), or refuse the element.
enum class when_full { wait, drop_lowest, refuse };

struct priority_queue_options {
    index_t capacity = -1; // -1: no limit
    rill::when_full when_full = rill::when_full::wait;
    std::string shared_name = {}; // sessions of this process share the queue of that name
    std::string name = {};        // name of the node
};

/// A queue by priority: priority_queue<tensor<float, 2>> q({.capacity = 50}). In q.enqueue(priority, x) the priority is a number or a
/// tensor of std::int64_t. The smallest leaves first, as the first component: auto [priority, x] = q.dequeue().
template <class... T> class priority_queue : public queue<tensor<std::int64_t>, T...> {
    using base = queue<tensor<std::int64_t>, T...>;

public:
    explicit priority_queue(const priority_queue_options& o = {},
                            const std::source_location& where = std::source_location::current())
        : base(detail::add_queue<priority_queue_op>(
              {.components = base::component_types(), .capacity = o.capacity, .when_full = word(o.when_full)},
              o.shared_name, o.name, where)) {}

private:
    static const char* word(rill::when_full w) {
        return w == rill::when_full::wait ? "wait" : w == rill::when_full::refuse ? "refuse" : "drop_lowest";
    }
};

}} // namespace rill::RILL_ABI
