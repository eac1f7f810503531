// SPDX-License-Identifier: BSD-3-Clause
// Queues of all four kinds: what goes in, what comes out and in which order, what happens at the end.
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

void in_order() {
    const fifo_queue<tensor<float, 2>, tensor<int>> q({.capacity = 100, .name = "in_order"});
    placeholder<float, dyn, 2> points("points");
    placeholder<int, dyn> labels("labels");
    const auto put = q.enqueue(constant({0.5f, 0.5f}), 7);
    const auto put_all = q.enqueue_many(points, labels);
    const auto [point, label] = q.dequeue();
    const auto [pair, pair_labels] = q.dequeue_many<2>();
    const auto [some, some_labels] = q.dequeue_up_to(10);

    const session s;
    s.run(put);
    s.run(put_all, feed(points, xt::xtensor<float, 2>{{1, 1}, {2, 2}, {3, 3}}), feed(labels, {1, 2, 3}));
    std::printf("in order: %d elements", s.run(q.size()));
    const auto [p, l] = s.run(std::tuple(point, label));
    std::printf(", first (%g, %g) with label %d", p(0), p(1), l);
    const auto [ps, ls] = s.run(std::tuple(pair, pair_labels));
    std::printf(", then labels %d and %d", ls(0), ls(1));
    s.run(q.close());
    const auto rest = s.run(some_labels); // fewer than ten: it is closed
    std::printf(", the rest after closing: %d\n", rest(0));
    expect(l == 7 && ls(0) == 1 && ls(1) == 2 && rest.size() == 1 && rest(0) == 3, "first in, first out");
    try {
        s.run(label);
        expect(false, "a closed, empty queue ends by out_of_range");
    } catch (const out_of_range& end) {
        std::printf("  at the end: %s\n", end.what());
    }
}

void padded() {
    const padding_fifo_queue<tensor<float, dyn, dyn>> q({.capacity = 50});
    placeholder<float, dyn, dyn> x("x");
    const auto put = q.enqueue(x);
    const session s;
    s.run(put, feed(x, xt::xtensor<float, 2>{{1, 2}, {3, 4}}));
    s.run(put, feed(x, xt::xtensor<float, 2>{{5}, {6}, {7}}));
    s.run(put, feed(x, xt::xtensor<float, 2>{{8, 9, 10, 11}}));
    const auto batch = s.run(q.dequeue_many<3>());
    std::printf("padded: a batch of %zu x %zu x %zu\n", batch.shape(0), batch.shape(1), batch.shape(2));
    expect(batch.shape(1) == 3 && batch.shape(2) == 4 && batch(0, 1, 1) == 4 && batch(0, 2, 3) == 0 &&
               batch(2, 0, 3) == 11,
           "each is filled up with zeros to the largest");
}

void shuffled() {
    const random_shuffle_queue<tensor<int>> q({.capacity = 1000, .min_after_dequeue = 20, .seed = 7});
    const session s;
    s.run(q.enqueue_many(range(0, 100)));
    const auto drawn = s.run(q.dequeue_many<80>()); // twenty stay, to be mixed with those that come
    s.run(q.close());
    const auto last = s.run(q.dequeue_up_to(100)); // now they go too
    std::set<int> all(drawn.begin(), drawn.end());
    all.insert(last.begin(), last.end());
    std::printf("shuffled: %d, %d, %d, …; %zu different values\n", drawn(0), drawn(1), drawn(2), all.size());
    expect(all.size() == 100, "every value leaves once");
    expect(!std::is_sorted(drawn.begin(), drawn.end()), "not in the order in which they came");
}

void by_priority() {
    const priority_queue<tensor<std::string>> q({.capacity = 3, .when_full = when_full::drop_lowest});
    placeholder<std::int64_t> priority("priority");
    placeholder<std::string> task("task");
    const auto put = q.enqueue(priority, task);
    const auto [p, t] = q.dequeue();
    const session s;
    s.run(put, feed(priority, 5), feed(task, "sweep"));
    s.run(put, feed(priority, 1), feed(task, "put out the fire"));
    s.run(put, feed(priority, 3), feed(task, "answer the door"));
    s.run(put, feed(priority, 2), feed(task, "water the plants")); // full: sweeping is dropped
    std::printf("by priority:");
    std::vector<std::string> order;
    for (int i = 0; i < 3; ++i) {
        order.push_back(s.run(t));
        std::printf(" %s%s", order.back().c_str(), i < 2 ? "," : "\n");
    }
    expect(order[0] == "put out the fire" && order[1] == "water the plants" && order[2] == "answer the door",
           "by number");
}

void between_threads() {
    const fifo_queue<tensor<int>> q({.capacity = 4});
    placeholder<int> x("x");
    const auto put = q.enqueue(x);
    const auto end = q.close();
    const auto got = q.dequeue();
    const session s;
    std::thread producer([&] {
        for (int i = 1; i <= 1000; ++i) s.run(put, feed(x, i)); // waits while the queue is full
        s.run(end);
    });
    long sum = 0;
    try {
        for (;;) sum += s.run(got); // waits while it is empty
    } catch (const out_of_range&) {}
    producer.join();
    std::printf("between threads: the sum is %ld\n", sum);
    expect(sum == 500500, "everything arrives once");
}

} // namespace

int main() {
    in_order();
    padded();
    shuffled();
    by_priority();
    between_threads();
}
