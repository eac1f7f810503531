// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/data/dataset.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/queue/queue_runner.hpp>
#include <rill/ops/queue/random_shuffle_queue.hpp>

// Queues with the runners that fill them: start_queue_runners(s, c) starts them all.

namespace rill { inline namespace RILL_ABI {

struct string_input_producer_options {
    std::int64_t num_epochs = -1; // -1: without end
    bool shuffle = true;          // anew in each epoch
    std::uint64_t seed = 0;       // 0: drawn now
    index_t capacity = 32;
    std::string shared_name = {}, name = {};
};

/// Makes a queue of texts, such as names of files. A queue runner fills it epoch by epoch, and closes it after the last one.
template <flat_range Texts = std::vector<std::string>>
fifo_queue<tensor<std::string>>
string_input_producer(const Texts& texts, const string_input_producer_options& o = {},
                      const std::source_location& where = std::source_location::current()) {
    const std::vector<std::string> all(std::ranges::begin(texts), std::ranges::end(texts));
    if (all.empty()) throw invalid_argument("string_input_producer: no texts were given" + detail::at_place(where));
    auto data = dataset::from_tensor_slices(all);
    if (o.shuffle)
        data = o.seed != 0 ? data.shuffle(static_cast<index_t>(all.size()), o.seed)
                           : data.shuffle(static_cast<index_t>(all.size()));
    fifo_queue<tensor<std::string>> q({.capacity = o.capacity, .shared_name = o.shared_name, .name = o.name}, where);
    add_queue_runner(q, {q.enqueue(data.repeat(o.num_epochs).make_one_shot_iterator({}, where).get_next(where))},
                     where);
    return q;
}

struct batch_options {
    int num_threads = 1; // steps that fill the queue at a time
    index_t capacity = 32;
    std::string shared_name = {}, name = {};
};
struct shuffle_batch_options {
    index_t capacity = 1000;
    index_t min_after_dequeue = 100; // elements that stay in the queue, to be mixed
    std::uint64_t seed = 0;          // 0: the seed of graph and node
    int num_threads = 1;
    std::string shared_name = {}, name = {};
};

namespace detail {

template <class... X> using operands_queue = fifo_queue<tensor_of<value_type_of<X>, extents_of<X>>...>;
template <class... X>
using operands_shuffle_queue = random_shuffle_queue<tensor_of<value_type_of<X>, extents_of<X>>...>;

template <index_t N, bool Whole, class Queue> auto batch_of_queue(const Queue& q, const std::source_location& where) {
    if constexpr (Whole)
        return q.template dequeue_many<N>(where);
    else
        return q.dequeue_up_to(static_cast<std::int64_t>(N), where);
}

template <index_t N, bool Whole, class Queue, class... X>
auto filled_batch(const Queue& q, const std::vector<std::tuple<X...>>& rows, int threads,
                  const std::source_location& where) {
    if (threads < 1)
        throw invalid_argument("batch: num_threads is " + std::to_string(threads) + "; it must be 1 or more" +
                               at_place(where));
    std::vector<operation> puts;
    for (const auto& row : rows) {
        const auto put = std::apply([&](const auto&... x) { return q.enqueue(x...); }, row);
        puts.insert(puts.end(), static_cast<std::size_t>(threads), put);
    }
    add_queue_runner(q, puts, where);
    return batch_of_queue<N, Whole>(q, where);
}

} // namespace detail

/// Batches of N elements that a queue runner collects: auto [xs, ys] = fifo_batch<32>(std::tuple(x, y)). The last batch has the rest, or is left out by
/// fifo_batch<32>(std::tuple(x, y), drop_remainder). TensorFlow's name, batch, is left to programs.
template <index_t N, typed_operand... X>
auto fifo_batch(const std::tuple<X...>& x, const batch_options& o = {},
                const std::source_location& where = std::source_location::current()) {
    const detail::operands_queue<X...> q({.capacity = o.capacity, .shared_name = o.shared_name, .name = o.name}, where);
    return detail::filled_batch<N, false>(q, std::vector{x}, o.num_threads, where);
}
template <index_t N, typed_operand... X>
auto fifo_batch(const std::tuple<X...>& x, drop_remainder_t, const batch_options& o = {},
                const std::source_location& where = std::source_location::current()) {
    const detail::operands_queue<X...> q({.capacity = o.capacity, .shared_name = o.shared_name, .name = o.name}, where);
    return detail::filled_batch<N, true>(q, std::vector{x}, o.num_threads, where);
}
/// Batches from several inputs side by side, such as one for each reader.
template <index_t N, typed_operand... X>
auto batch_join(const std::vector<std::tuple<X...>>& rows, const batch_options& o = {},
                const std::source_location& where = std::source_location::current()) {
    const detail::operands_queue<X...> q({.capacity = o.capacity, .shared_name = o.shared_name, .name = o.name}, where);
    return detail::filled_batch<N, false>(q, rows, o.num_threads, where);
}
/// Batches in random order.
template <index_t N, typed_operand... X>
auto shuffle_batch(const std::tuple<X...>& x, const shuffle_batch_options& o = {},
                   const std::source_location& where = std::source_location::current()) {
    const detail::operands_shuffle_queue<X...> q({.capacity = o.capacity,
                                                  .min_after_dequeue = o.min_after_dequeue,
                                                  .seed = o.seed,
                                                  .shared_name = o.shared_name,
                                                  .name = o.name},
                                                 where);
    return detail::filled_batch<N, false>(q, std::vector{x}, o.num_threads, where);
}

}} // namespace rill::RILL_ABI
