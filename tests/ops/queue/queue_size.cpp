// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/queue/queue_size.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_ops_queue_queue_size {

TEST_CASE("queue_size: how many are in") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q;
    const session s;
    CHECK(s.run(q.size()) == 0);
    s.run(q.enqueue_many(range(0, 7)));
    CHECK(s.run(cast<float>(q.size()) * 2.f) == 14.f);
}

} // namespace test_ops_queue_queue_size
