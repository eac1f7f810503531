// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue.hpp>

namespace rill { inline namespace RILL_ABI {

/// A queue whose elements leave in random order. While the queue is open, `min_after_dequeue` elements stay in it, to be mixed with new
/// ones.
struct random_shuffle_queue_op : detail::queue_maker<random_shuffle_queue_op> {
    static constexpr auto name = "RandomShuffleQueue", label = "random_shuffle_queue";
    static void settle(detail::queue_traits& t) { t.random = true; }
    static void fields(auto& op, auto& visit) {
        common_fields(op, visit);
        visit("min_after_dequeue", op.traits.reserve);
        visit("seed", op.traits.seed);
    }
};

struct random_shuffle_queue_options {
    index_t capacity = -1;         // -1: no limit
    index_t min_after_dequeue = 0; // elements that stay until the queue is closed
    std::uint64_t seed = 0;        // 0: the seed of graph and node
    std::string shared_name = {};  // sessions of this process share the queue of that name
    std::string name = {};         // name of the node
};

/// A queue in random order: random_shuffle_queue<tensor<float, 2>> q({.capacity = 1000, .min_after_dequeue = 200, .seed = 7}).
template <class... T> class random_shuffle_queue : public queue<T...> {
public:
    explicit random_shuffle_queue(const random_shuffle_queue_options& o = {},
                                  const std::source_location& where = std::source_location::current())
        : queue<T...>(detail::add_queue<random_shuffle_queue_op>({.components = queue<T...>::component_types(),
                                                                  .capacity = o.capacity,
                                                                  .reserve = o.min_after_dequeue,
                                                                  .seed = o.seed},
                                                                 o.shared_name, o.name, where)) {}
};

}} // namespace rill::RILL_ABI
