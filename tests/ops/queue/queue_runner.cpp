// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/queue_runner.hpp>

#include <rill/graph/serialization/serialization.hpp>
#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_queue_queue_runner {

TEST_CASE("queue_runner: a note in the graph says which operations fill a queue, also of one that was read") {
    graph g;
    {
        const graph_scope here(g);
        const fifo_queue<tensor<int>> q({.name = "numbers"});
        const auto a = q.enqueue(1), b = q.enqueue(2);
        add_queue_runner(q, {a, a, b});
        CHECK_THROWS_WITH(add_queue_runner(q, {}), contains("'numbers'"));
        CHECK_THROWS_AS(add_queue_runner(q, {operation()}), error);
    }
    for (const graph& one : {g, graph_from_bytes(graph_to_bytes(g))}) {
        const auto notes = detail::queue_runners_of(one);
        REQUIRE(notes.size() == 1);
        CHECK(notes[0].name == "queue_runner");
        REQUIRE(notes[0].enqueue.size() == 3);
        CHECK(notes[0].enqueue[0] == notes[0].enqueue[1]);
        CHECK(notes[0].enqueue[2]->name == "enqueue_1");
        CHECK(notes[0].close->name == "close");
        CHECK(notes[0].cancel->name == "close_1");
    }
}

TEST_CASE("queue_runner: something else in the collection is refused") {
    const graph_scope here{graph()};
    const tensor x = constant(1.f);
    current_graph().add_to_collection(collections::queue_runners, x.end());
    CHECK_THROWS_AS(detail::queue_runners_of(current_graph()), invalid_argument);
}

} // namespace test_ops_queue_queue_runner
