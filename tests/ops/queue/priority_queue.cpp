// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/priority_queue.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_priority_queue {

TEST_CASE("priority_queue: the smallest number leaves first, with its element") {
    const graph_scope here{graph()};
    placeholder<std::int64_t> p("p");
    placeholder<float, 2> x("x");
    const priority_queue<tensor<float, 2>> q({.capacity = 50});
    const auto put = q.enqueue(p, x);
    const auto [priority, element] = q.dequeue();
    const session s;
    for (const int n : {3, 1, 2}) s.run(put, feed(p, n), feed(x, {static_cast<float>(n), 0.f}));
    const auto [first, value] = s.run(std::tuple(priority, element));
    CHECK(first == 1);
    CHECK(value(0) == 1.f);
    s.run(q.enqueue(0, x), feed(x, {9.f, 9.f}));
    const auto [all, values] = s.run(q.dequeue_many<3>());
    CHECK((all == xt::xtensor<std::int64_t, 1>{0, 2, 3}));
    CHECK(values(0, 0) == 9.f);
}

TEST_CASE("priority_queue: what a full one does") {
    const graph_scope here{graph()};
    const priority_queue<tensor<int>> drops({.capacity = 2, .when_full = when_full::drop_lowest}),
        refuses({.capacity = 2, .when_full = when_full::refuse});
    const session s;
    for (const int n : {5, 3, 4}) s.run(drops.enqueue(n, n));
    CHECK((s.run(std::get<1>(drops.dequeue_up_to(2))) == xt::xtensor<int, 1>{3, 4}));
    for (const int n : {5, 3}) s.run(refuses.enqueue(n, n));
    CHECK_THROWS_WITH(s.run(refuses.enqueue(4, 4)), contains("is full"));
    CHECK_THROWS_AS(s.run(std::get<1>(drops.dequeue_many<3>())), invalid_argument);
}

TEST_CASE("priority_queue: up to more than it holds is what is left, once it is closed") {
    const graph_scope here{graph()};
    const priority_queue<tensor<int>> q({.capacity = 3});
    const auto ten = q.dequeue_up_to(10);
    const session s;
    s.run(q.enqueue(2, 20));
    s.run(q.enqueue(1, 10));
    CHECK_THROWS_WITH(s.run(ten), contains("10 elements are asked for at once, it holds 3"));
    s.run(q.close());
    const auto [priorities, values] = s.run(ten);
    CHECK((values == xt::xtensor<int, 1>{10, 20}));
    CHECK((priorities == xt::xtensor<std::int64_t, 1>{1, 2}));
}

} // namespace test_ops_queue_priority_queue
