// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/barrier_wait.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_barrier_wait {

TEST_CASE("barrier_wait: a barrier of one lets everybody through") {
    const graph_scope here{graph()};
    const barrier b("b");
    const session s;
    for (int k = 0; k < 3; ++k) s.run(b.arrive_and_wait());
    const auto* op = find_op(barrier_wait_op::name);
    REQUIRE(op);
    CHECK(make_op(barrier_wait_op{})->is_async());
    CHECK(make_op(barrier_wait_op{})->ordering() == step_ordering::reads);
}

} // namespace test_ops_sync_barrier_wait
