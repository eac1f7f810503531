// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/semaphore_value.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_semaphore_value {

TEST_CASE("semaphore_value: behind what control dependencies say") {
    const graph_scope here{graph()};
    const semaphore s("s", {.count = 2});
    const operation take = s.acquire();
    tensor<std::int64_t> left;
    {
        const control_dependencies after(take);
        left = s.value();
    }
    const session run;
    CHECK(run.run(left) == 1);
    CHECK(run.run(left) == 0);
}

} // namespace test_ops_sync_semaphore_value
