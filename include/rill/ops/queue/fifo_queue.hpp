// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue.hpp>

namespace rill { inline namespace RILL_ABI {

/// A queue whose elements leave in the order of their arrival.
struct fifo_queue_op : detail::queue_maker<fifo_queue_op> {
    static constexpr auto name = "FIFOQueue", label = "fifo_queue";
    static void settle(detail::queue_traits&) {}
    static void fields(auto& op, auto& visit) { common_fields(op, visit); }
};

struct fifo_queue_options {
    index_t capacity = -1;        // -1: no limit
    std::string shared_name = {}; // sessions of this process share the queue of that name
    std::string name = {};        // name of the node
};

/// A first-in, first-out queue: fifo_queue<tensor<float, 2>, tensor<int>> q({.capacity = 100}).
template <class... T> class fifo_queue : public queue<T...> {
public:
    explicit fifo_queue(const fifo_queue_options& o = {},
                        const std::source_location& where = std::source_location::current())
        : queue<T...>(detail::add_queue<fifo_queue_op>(
              {.components = queue<T...>::component_types(), .capacity = o.capacity}, o.shared_name, o.name, where)) {}
};

}} // namespace rill::RILL_ABI
