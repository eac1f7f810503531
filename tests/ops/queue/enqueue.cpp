// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/enqueue.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_enqueue {

tensor<float> total(const tensor<float, 3000>& x) { return reduce_sum(x); }

TEST_CASE("enqueue: waits while the queue is full, goes in when there is room") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 1});
    const auto put = q.enqueue(5);
    const session s;
    s.run(put);
    CHECK_THROWS_WITH(s.run(put, {.timeout = 1ms}), contains("it waits for node 'enqueue'"));
    CHECK(s.run(q.size()) == 1);
    CHECK(s.run(std::tuple(q.dequeue(), put)) == std::tuple(5)); // the one goes out, the other in
    CHECK(s.run(q.size()) == 1);
}

TEST_CASE("enqueue: what is put in is what it was then") {
    const graph_scope here{graph()};
    const variable<float, 2> v("v", {1.f, 1.f});
    const fifo_queue<tensor<float, 2>> q;
    const auto put = q.enqueue(v);
    const session s;
    s.run(v.initializer());
    s.run(put);
    s.run(v.assign_add(1.f));
    CHECK((s.run(q.dequeue()) == xt::xtensor<float, 1>{1.f, 1.f}));
    // as a control input, it comes before
    operation first = q.enqueue(v * 10.f);
    const control_dependencies after(first);
    CHECK(s.run(q.size()) == 1);
}

TEST_CASE("enqueue: what a step computes goes in without a copy, whoever else needs it has it too") {
    const graph_scope here{graph()};
    constexpr index_t large = 3000;
    const fifo_queue<tensor<float, large>> one, two({.capacity = 1}), three;
    const fifo_queue<tensor<float, 3, 1000>> wide;
    placeholder<float> x("x");
    const tensor<float, large> only(fill<large>(1.f) * x), also(fill<large>(2.f) * x), both(fill<large>(3.f) * x);
    const auto put =
        group(one.enqueue(only), two.enqueue(also), three.enqueue(both), wide.enqueue(reshape<3, 1000>(both)));
    const auto in = total(one.dequeue()), out = total(two.dequeue());
    const session s;
    for (int k = 1; k < 20; ++k) {
        const auto n = static_cast<float>(k);
        CHECK(s.run(std::tuple(reduce_sum(also), put), feed(x, n)) == std::tuple(2 * n * large));
        CHECK_THROWS_AS(s.run(two.enqueue(also), feed(x, n), {.timeout = 1ms}), deadline_exceeded);
        CHECK(s.run(std::tuple(in, out, total(three.dequeue()))) ==
              std::tuple(n * large, 2 * n * large, 3 * n * large));
        CHECK(s.run(reduce_sum(wide.dequeue())) == 3 * n * large);
    }
    // from one queue into another, and out of a loop
    s.run(group(one.enqueue(only)), feed(x, 5.f));
    s.run(three.enqueue(one.dequeue()));
    const auto loop =
        while_loop([](auto i) { return i < 4; },
                   [&](auto i) {
                       const control_dependencies after(three.enqueue(fill<large>(1.f) * cast<float>(i) + x));
                       return tensor(i + 1);
                   },
                   0);
    s.run(loop, feed(x, 7.f));
    for (const float n : {5.f, 7.f, 8.f, 9.f, 10.f}) CHECK(s.run(total(three.dequeue())) == n * large);
    // waiting for room outlives its frame
    s.run(two.enqueue(also), feed(x, 1.f));
    const tensor<float, large> late(also * 4.f);
    CHECK(s.run(std::tuple(total(two.dequeue()), two.enqueue(late)), feed(x, 1.f)) == std::tuple(2.f * large));
    CHECK(s.run(total(two.dequeue())) == 8.f * large);
}

TEST_CASE("enqueue: numbers and texts as they are") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<std::string>, tensor<float>> q({.capacity = 3});
    const std::string text = "from a string";
    const session s;
    s.run(q.enqueue("a literal", 1));
    s.run(q.enqueue(text, 2.f));
    const auto element = q.dequeue();
    CHECK(s.run(element) == std::tuple(std::string("a literal"), 1.f));
    CHECK(s.run(element) == std::tuple(text, 2.f));
}

} // namespace test_ops_queue_enqueue
