// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/dequeue.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_dequeue {

TEST_CASE("dequeue: waits, is cancelled, times out, nothing is lost") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q;
    const auto got = q.dequeue();
    const session s({.progress_timeout = 20ms});
    CHECK_THROWS_WITH(s.run(got), contains("progress_timeout") && contains("0.02 s") && contains("node 'dequeue'"));
    CHECK_THROWS_AS(s.run(got, {.timeout = 1ms}), deadline_exceeded);
    const cancellation_token token;
    token.cancel();
    CHECK_THROWS_AS(s.run(got, {.cancel = token}), cancelled);
    s.run(q.enqueue(1));
    CHECK(s.run(got) == 1);
    s.run(q.close());
    CHECK_THROWS_WITH(s.run(got), contains("is closed and has insufficient elements (requested 1, current size 0)"));
}

TEST_CASE("dequeue: several of one run take one element each") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q;
    const auto a = q.dequeue(), b = q.dequeue();
    const session s;
    s.run(q.enqueue_many(range(1, 3)));
    const auto [x, y] = s.run(std::tuple(a, b));
    CHECK(x + y == 3);
    CHECK(x != y);
}

TEST_CASE("dequeue: of a queue whose elements are others is refused, and nothing is taken") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<float, 2>> q({.name = "q"});
    const any_tensor handle(endpoint{current_graph().state().find("q"), 0}),
        open = any_placeholder("open", dtype::int64);
    dequeue_op op;
    op.components = {{dtype::float64, dims{500}}};
    const any_tensor got = apply_node(op, std::source_location{}, open);
    dequeue_many_op many;
    many.components = op.components;
    const any_tensor batch = apply_node(many, std::source_location{}, open, constant(1));
    const session s;
    s.run(q.enqueue(constant({1.f, 2.f})));
    const auto other = s.run(handle);
    CHECK_THROWS_WITH(s.run(got + got, feed(open, other)),
                      contains("node 'dequeue'") && contains("FIFOQueue 'q'") &&
                          contains("its elements are (float32 [2]), not (float64 [500])"));
    CHECK_THROWS_WITH(s.run(batch + batch, feed(open, other)), contains("(float32 [2]), not (float64 [500])"));
    CHECK(s.run(q.size()) == 1);
}

} // namespace test_ops_queue_dequeue
