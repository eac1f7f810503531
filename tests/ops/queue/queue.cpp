// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/queue.hpp>

#include <rill/graph/serialization/serialization.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_queue {

TEST_CASE("queue: one component is a tensor, several are a tuple") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<float, 3>> one;
    const fifo_queue<tensor<float, 3>, tensor<std::string>> two;
    static_assert(std::is_same_v<decltype(one.dequeue()), tensor<float, 3>>);
    static_assert(std::is_same_v<decltype(one.dequeue_many<4>()), tensor<float, 4, 3>>);
    static_assert(std::is_same_v<decltype(one.dequeue_many(4)), tensor<float, dyn, 3>>);
    static_assert(std::is_same_v<decltype(two.dequeue()), std::tuple<tensor<float, 3>, tensor<std::string>>>);
    static_assert(
        std::is_same_v<decltype(two.dequeue_up_to(2)), std::tuple<tensor<float, dyn, 3>, tensor<std::string, dyn>>>);
    const session s;
    s.run(two.enqueue(ones<float, 3>(), constant("text")));
    CHECK(s.run(std::get<1>(two.dequeue())) == "text");
    CHECK(two.handle().static_shape() == dims{});
}

TEST_CASE("queue: operands of every kind go in") {
    const graph_scope here{graph()};
    placeholder<float, 2> x("x");
    const variable<float, 2> v("v", {1.f, 1.f});
    const fifo_queue<tensor<float, 2>, tensor<int>> q;
    const session s;
    s.run(v.initializer());
    s.run(q.enqueue(x * 2.f + v, 7), feed(x, {1.f, 2.f}));
    s.run(q.enqueue(v, constant(8)));
    s.run(q.enqueue(any_tensor(x), cast<int>(reduce_sum(x))), feed(x, {3.f, 4.f}));
    const auto [e, n] = s.run(q.dequeue_many<3>());
    CHECK((e == xt::xtensor<float, 2>{{3.f, 5.f}, {1.f, 1.f}, {3.f, 4.f}}));
    CHECK((n == xt::xtensor<int, 1>{7, 8, 7}));
}

TEST_CASE("queue: a graph with queues is saved and read") {
    graph g;
    {
        const graph_scope here(g);
        const priority_queue<tensor<float, dyn>> q({.capacity = 4, .when_full = when_full::refuse, .name = "q"});
        placeholder<float, dyn> x("x");
        q.enqueue(2, x);
        q.dequeue();
        q.close({.cancel_pending_enqueues = true});
    }
    const std::string bytes = graph_to_bytes(g);
    const graph read = graph_from_bytes(bytes);
    const session s(read);
    s.run(fetch("enqueue"), feed("x:0", xt::xtensor<float, 1>{1.f, 2.f}));
    CHECK(s.run(fetch("dequeue:1")).elements<float>()[1] == 2.f);
    s.run(fetch("close"));
    CHECK_THROWS_AS(s.run(fetch("dequeue:0")), out_of_range);
}

} // namespace test_ops_queue_queue
