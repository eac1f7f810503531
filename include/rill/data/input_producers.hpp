// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/data/dataset.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/queue/queue_runner.hpp>
#include <rill/ops/queue/random_shuffle_queue.hpp>
#include <rill/ops/state/count_up_to.hpp>
#include <rill/ops/state/variable.hpp>

// Queues with the runners that fill them: start_queue_runners(s, c) starts them all.

namespace rill { inline namespace RILL_ABI {

struct input_producer_options {
    std::int64_t num_epochs = -1; // -1: endless
    bool shuffle = true;          // a new order in each epoch
    std::uint64_t seed = 0;       // 0: drawn now
    index_t capacity = 32;
    std::string shared_name = {}, name = {};
};

using string_input_producer_options = input_producer_options;
using slice_input_producer_options = input_producer_options;

namespace detail {

/// Adds a queue of a dataset's elements, and the runner that fills it. Each epoch has an order of its own. `buffer` is at least the
/// number of elements; without it there is no limit, and memory grows with the elements.
template <class... T>
fifo_queue<component<T>...> produce(dataset_of<T...> data, const input_producer_options& o,
                                    const std::source_location& where, index_t buffer = index_t(1) << 40) {
    if (o.shuffle) data = o.seed != 0 ? data.shuffle(buffer, o.seed) : data.shuffle(buffer);
    const fifo_queue<component<T>...> q({.capacity = o.capacity, .shared_name = o.shared_name, .name = o.name}, where);
    const auto next = data.repeat(o.num_epochs).make_one_shot_iterator({}, where).get_next(where);
    if constexpr (sizeof...(T) == 1)
        add_queue_runner(q, {q.enqueue(next)}, where);
    else
        add_queue_runner(q, {std::apply([&](const auto&... x) { return q.enqueue(x...); }, next)}, where);
    return q;
}

} // namespace detail

/// Makes a queue of texts, such as file names. A queue runner fills it epoch by epoch, and closes it after the last one.
template <flat_range Texts = std::vector<std::string>>
fifo_queue<tensor<std::string>>
string_input_producer(const Texts& texts, const string_input_producer_options& o = {},
                      const std::source_location& where = std::source_location::current()) {
    const std::vector<std::string> all(std::ranges::begin(texts), std::ranges::end(texts));
    if (all.empty()) throw invalid_argument("string_input_producer: no texts were given" + detail::at_place(where));
    return detail::produce(dataset::from_tensor_slices(all), o, where, static_cast<index_t>(all.size()));
}

/// Makes a queue of the slices of arrays along their first axes, and takes its next element: auto [x, y] =
/// slice_input_producer(std::tuple(xs, ys)). A queue runner fills the queue epoch by epoch, and closes it after the last one.
template <class... X>
auto slice_input_producer(const std::tuple<X...>& arrays, const slice_input_producer_options& o = {},
                          const std::source_location& where = std::source_location::current()) {
    const auto data = std::apply([](const auto&... each) { return dataset::from_tensor_slices(each...); }, arrays);
    return detail::produce(data, o, where).dequeue(where);
}

/// Makes a queue of the numbers in [0, limit), which a queue runner fills epoch by epoch.
template <class Number>
requires std::is_integral_v<Number> fifo_queue<tensor<std::int64_t>>
range_input_producer(Number limit, const slice_input_producer_options& o = {},
                     const std::source_location& where = std::source_location::current()) {
    if (limit < 1)
        throw invalid_argument("range_input_producer: the limit is " + std::to_string(limit) +
                               "; it must be 1 or more" + detail::at_place(where));
    return detail::produce(dataset::range(limit), o, where);
}

/// Returns x for `num_epochs` runs; later runs throw out_of_range. The count is a local variable: run the
/// initializers first. No checkpoint has it.
template <graph_operand X,
          class Count = std::int64_t> // a parameter, so that only programs that call the function have the kernels
auto limit_epochs(const X& x, std::type_identity_t<Count> num_epochs, const std::string& name = "epochs",
                  const std::source_location& where = std::source_location::current()) {
    if (num_epochs < 1)
        throw invalid_argument("limit_epochs: the number of epochs is " + std::to_string(num_epochs) +
                               "; it must be 1 or more" + detail::at_place(where));
    const variable<Count> epochs(name, Count(0), {.trainable = false, .local = true});
    const auto counted = epochs.count_up_to(num_epochs, where);
    const control_dependencies after(counted);
    return identity(x, where);
}

struct batch_options {
    int num_threads = 1; // concurrent steps that fill the queue
    index_t capacity = 32;
    std::string shared_name = {}, name = {};
};
struct shuffle_batch_options {
    index_t capacity = 1000;
    index_t min_after_dequeue = 100; // elements that stay in the queue for mixing
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

/// Returns batches of N elements that a queue runner collects: auto [xs, ys] = fifo_batch<32>(std::tuple(x, y)). The last batch
/// has the rest; fifo_batch<32>(std::tuple(x, y), drop_remainder) drops it. Programs may define TensorFlow's name, batch,
/// themselves.
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
/// Returns batches from several inputs, such as one for each reader.
template <index_t N, typed_operand... X>
auto batch_join(const std::vector<std::tuple<X...>>& rows, const batch_options& o = {},
                const std::source_location& where = std::source_location::current()) {
    const detail::operands_queue<X...> q({.capacity = o.capacity, .shared_name = o.shared_name, .name = o.name}, where);
    return detail::filled_batch<N, false>(q, rows, o.num_threads, where);
}
/// Returns batches in random order.
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
