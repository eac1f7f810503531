// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/start_queue_runners.hpp>

#include <atomic>
#include <numeric>
#include <thread>

#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_train_start_queue_runners {

/// Five threads count up to 100, and the queue is closed then.
TEST_CASE("start_queue_runners: threads fill a queue until there is nothing left") {
    const graph_scope here{graph()};
    const variable<int> next("next", 0);
    const fifo_queue<tensor<int>> q({.capacity = 7});
    const auto put = q.enqueue(next.count_up_to(100));
    add_queue_runner(q, {put, put, put, put, put});
    const auto got = q.dequeue();
    const session s;
    s.run(next.initializer());
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    CHECK(threads.size() == 6);
    CHECK(start_queue_runners(s, c).empty()); // they are started
    std::vector<int> all;
    try {
        for (;;) {
            const int n = s.run(got);
            all.push_back(n);
        }
    } catch (const out_of_range&) {}
    c.request_stop();
    c.join(threads);
    std::sort(all.begin(), all.end());
    std::vector<int> wanted(100);
    std::iota(wanted.begin(), wanted.end(), 0);
    CHECK(all == wanted);
    CHECK(s.run(q.is_closed()));
}

TEST_CASE("start_queue_runners: a stop reaches who waits for room") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 2});
    add_queue_runner(q, {q.enqueue(1), q.enqueue(2)});
    const auto got = q.dequeue();
    const session s;
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    const int n = s.run(got);
    CHECK((n == 1 || n == 2));
    c.request_stop();
    c.join(threads);
    CHECK(s.run(q.is_closed()));
}

TEST_CASE("start_queue_runners: an error of one ends all") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 2});
    const auto fails = host_call<int>([]() -> int { throw data_loss("a bad record"); });
    add_queue_runner(q, {q.enqueue(fails), q.enqueue(1)});
    const session s;
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    CHECK(c.wait_for_stop());
    CHECK_THROWS_WITH(c.join(threads), contains("a bad record"));
}

TEST_CASE("start_queue_runners: a bad id is an error, and not the end of what is read") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<float>> q({.capacity = 100});
    variable<int> n("n", 0, {.trainable = false});
    add_queue_runner(q, {q.enqueue(gather<0>(tensor(zeros<float, 10>()), n.count_up_to(1000)))});
    const session s;
    s.run(global_variables_initializer());
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    CHECK_THROWS_WITH(c.join(threads), contains("id 10 at [] is outside [0, 10)"));
    CHECK(s.run(q.size()) == 10);
}

TEST_CASE("start_queue_runners: a session that ends takes its threads along") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 2});
    add_queue_runner(q, {q.enqueue(1)});
    const coordinator c;
    std::vector<coordinated_thread> threads;
    {
        const session s;
        threads = start_queue_runners(s, c);
    }
    CHECK_THROWS_AS(c.join(threads), cancelled);
}

TEST_CASE("start_queue_runners: a queue of several runners is closed when the last of all their threads ends") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 5});
    std::atomic<const coordinated_thread*> first = nullptr;
    const auto ends = host_call<int>([]() -> int { throw out_of_range("nothing to read"); });
    // The second runner begins when the first is over: had that closed the queue, nothing could be put into it.
    int k = 0;
    const auto late = host_call<int>([&]() -> int {
        while (!first.load() || first.load()->is_alive()) std::this_thread::yield();
        if (k == 3) throw out_of_range("nothing to read");
        return k++;
    });
    add_queue_runner(q, {q.enqueue(ends)});
    add_queue_runner(q, {q.enqueue(late)});
    const auto one = q.dequeue();
    const session s;
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    first = &threads.front();
    std::vector<int> got;
    CHECK_THROWS_AS(
        [&] {
            for (;;) got.push_back(s.run(one));
        }(),
        out_of_range);
    CHECK(got == std::vector{0, 1, 2});
    c.join(threads);
}

TEST_CASE("start_queue_runners: runners share what they read and put all of it in") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 5});
    variable<int> n("n", 0, {.trainable = false});
    const auto put = q.enqueue(n.count_up_to(3));
    add_queue_runner(q, {put});
    add_queue_runner(q, {put});
    const session s;
    s.run(global_variables_initializer());
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    const auto one = q.dequeue();
    int sum = 0;
    CHECK_THROWS_AS(
        [&] {
            for (;;) sum += s.run(one);
        }(),
        out_of_range);
    CHECK(sum == 0 + 1 + 2);
    c.join(threads);
}

} // namespace test_train_start_queue_runners
