// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/queue_is_closed.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_queue_is_closed {

TEST_CASE("queue_is_closed: before and after") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q;
    const session s;
    CHECK(!s.run(q.is_closed()));
    s.run(q.close());
    CHECK(s.run(q.is_closed()));
}

} // namespace test_ops_queue_queue_is_closed
