// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/dequeue_many.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_dequeue_many {

TEST_CASE("dequeue_many: n by type, by number, by tensor") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q;
    placeholder<int> n("n");
    const session s;
    s.run(q.enqueue_many(range(0, 10)));
    CHECK((s.run(q.dequeue_many<2>()) == xt::xtensor<int, 1>{0, 1}));
    CHECK((s.run(q.dequeue_many(3)) == xt::xtensor<int, 1>{2, 3, 4}));
    CHECK((s.run(q.dequeue_many(n), feed(n, 4)) == xt::xtensor<int, 1>{5, 6, 7, 8}));
    CHECK(s.run(q.dequeue_many(n), feed(n, 0)).size() == 0);
    CHECK_THROWS_AS(s.run(q.dequeue_many(n), feed(n, -1)), invalid_argument);
    s.run(q.close());
    CHECK_THROWS_WITH(s.run(q.dequeue_many<2>()), contains("requested 2, current size 1"));
    CHECK(s.run(q.dequeue()) == 9); // it went back
}

} // namespace test_ops_queue_dequeue_many
