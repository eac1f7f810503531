// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/fifo_queue.hpp>

#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_fifo_queue {

TEST_CASE("fifo_queue: elements leave in the order they came, each whole") {
    const graph_scope here{graph()};
    placeholder<float, 2> x("x");
    placeholder<int> label("label");
    const fifo_queue<tensor<float, 2>, tensor<int>> q({.capacity = 3});
    const auto put = q.enqueue(x, label);
    const auto [e, l] = q.dequeue();
    const session s;
    for (int i = 0; i < 3; ++i) s.run(put, feed(x, {static_cast<float>(i), -1.f}), feed(label, i));
    CHECK(s.run(q.size()) == 3);
    for (int i = 0; i < 3; ++i) {
        const auto [ev, lv] = s.run(std::tuple(e, l));
        CHECK(ev(0) == static_cast<float>(i));
        CHECK(lv == i);
    }
    CHECK(q.name() == "fifo_queue");
}

TEST_CASE("fifo_queue: sessions of their own have queues of their own, those that share a name one") {
    const graph_scope here{graph()};
    session::reset();
    const fifo_queue<tensor<float>> own({.capacity = 3}), shared({.capacity = 3, .shared_name = "examples"});
    const auto put_own = own.enqueue(1.f), put_shared = shared.enqueue(2.f);
    const session a, b;
    a.run(std::tuple(put_own, put_shared));
    CHECK(b.run(std::tuple(own.size(), shared.size())) == std::tuple(0, 1));
    const session c;
    CHECK(c.run(shared.dequeue()) == 2.f);
    session::reset();
}

TEST_CASE("fifo_queue: a producer and a consumer, in two sessions") {
    const graph_scope here{graph()};
    session::reset();
    placeholder<int> x("x");
    const fifo_queue<tensor<int>> q({.capacity = 2, .shared_name = "between"});
    const auto put = q.enqueue(x);
    const auto end = q.close();
    const auto got = q.dequeue();
    std::thread producer([&] {
        const session s(x.graph());
        for (int i = 0; i < 100; ++i) s.run(put, feed(x, i));
        s.run(end);
    });
    const session s;
    int next = 0;
    try {
        for (;;) {
            const int n = s.run(got);
            CHECK(n == next++);
        }
    } catch (const out_of_range&) {}
    producer.join();
    CHECK(next == 100);
    session::reset();
}

TEST_CASE("fifo_queue: in loops and branches, and between nodes of one run") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 10}), other({.capacity = 10});
    const auto filled = while_loop([](auto i) { return i < 5; },
                                   [&](auto i) {
                                       const control_dependencies after(q.enqueue(i * i));
                                       return tensor(i + 1, "next");
                                   },
                                   0);
    const auto total = while_loop([](auto i, auto) { return i < 5; },
                                  [&](auto i, auto t) { return std::tuple(i + 1, t + q.dequeue()); }, 0, 0);
    placeholder<bool> p("p");
    const auto maybe = cond(p, [&] { return q.dequeue(); }, [] { return tensor(constant(-1)); });
    const session s;
    CHECK(s.run(filled) == 5);
    CHECK(s.run(std::get<1>(total)) == 0 + 1 + 4 + 9 + 16);
    CHECK(s.run(maybe, feed(p, false)) == -1);
    // one run that takes out what it puts in
    const auto there = other.dequeue();
    const auto back = q.dequeue();
    CHECK(s.run(std::tuple(back, q.enqueue(there * 2), other.enqueue(21))) == std::tuple(42));
}

TEST_CASE("fifo_queue: a thousand that wait hold no thread") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q;
    std::vector<any_tensor> all;
    for (int i = 0; i < 1000; ++i) all.push_back(q.dequeue());
    placeholder<int, dyn> x("x");
    const auto put = q.enqueue_many(x);
    const session s;
    std::thread feeder([&] {
        std::vector<int> n(1000);
        for (int i = 0; i < 1000; ++i) n[static_cast<std::size_t>(i)] = i;
        s.run(put, feed(x, n));
    });
    const auto sum = s.run(cast<std::int64_t>(tensor<int>(add_n(all))));
    feeder.join();
    CHECK(sum == 999 * 1000 / 2);
}

TEST_CASE("fifo_queue: mistakes are refused") {
    const graph_scope here{graph()};
    using queue_of_pairs = fifo_queue<tensor<float, 2>, tensor<int>>;
    CHECK_THROWS_WITH(queue_of_pairs({.capacity = 0}), contains("the capacity is 0"));
    CHECK_THROWS_WITH(queue_of_pairs({.capacity = 0}), contains("no limit) (node '"));
    const queue_of_pairs q({.capacity = 1});
    placeholder<float, dyn> x("x");
    const auto put = q.enqueue(x, 1);
    const session s;
    CHECK_THROWS_WITH(s.run(put, feed(x, {1.f, 2.f, 3.f})),
                      contains("component 0") && contains("[3]") && contains("node 'enqueue'"));
    CHECK(s.run(q.size()) == 0);
    const any_tensor wrong = x;
    CHECK_THROWS_WITH(q.enqueue(any_tensor(constant(1.0)), 1), contains("component 0") && contains("float64"));
}

} // namespace test_ops_queue_fifo_queue
