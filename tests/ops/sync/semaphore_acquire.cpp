// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/semaphore_acquire.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_semaphore_acquire {

TEST_CASE("semaphore_acquire: several at once") {
    const graph_scope here{graph()};
    const semaphore s("s", {.count = 5});
    const session run;
    run.run(s.acquire(5));
    CHECK(run.run(s.value()) == 0);
    CHECK(make_op(semaphore_acquire_op{})->is_async());
    CHECK(make_op(semaphore_acquire_op{})->ordering() == step_ordering::reads);
}

} // namespace test_ops_sync_semaphore_acquire
