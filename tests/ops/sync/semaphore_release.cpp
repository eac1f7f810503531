// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/semaphore_release.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_semaphore_release {

TEST_CASE("semaphore_release: more than were taken") {
    const graph_scope here{graph()};
    const semaphore s("s");
    const session run;
    run.run(s.release(4));
    CHECK(run.run(s.value()) == 5);
    CHECK_FALSE(make_op(semaphore_release_op{})->is_async());
}

} // namespace test_ops_sync_semaphore_release
