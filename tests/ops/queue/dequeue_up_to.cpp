// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/dequeue_up_to.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_dequeue_up_to {

TEST_CASE("dequeue_up_to: of a closed queue what is left") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q;
    const session s;
    s.run(q.enqueue_many(range(0, 3)));
    CHECK((s.run(q.dequeue_up_to(2)) == xt::xtensor<int, 1>{0, 1}));
    CHECK_THROWS_AS(s.run(q.dequeue_up_to(2), {.timeout = 1ms}), deadline_exceeded); // more may come
    s.run(q.close());
    CHECK((s.run(q.dequeue_up_to(2)) == xt::xtensor<int, 1>{2}));
    CHECK_THROWS_AS(s.run(q.dequeue_up_to(2)), out_of_range);
}

} // namespace test_ops_queue_dequeue_up_to
