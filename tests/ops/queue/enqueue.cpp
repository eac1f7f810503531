// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/enqueue.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_enqueue {

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

} // namespace test_ops_queue_enqueue
