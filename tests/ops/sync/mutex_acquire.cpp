// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/mutex_acquire.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_mutex_acquire {

TEST_CASE("mutex_acquire: of a mutex only") {
    const graph_scope here{graph()};
    const semaphore other("other");
    const session s;
    const operation wrong(apply_node(mutex_acquire_op{}, std::source_location::current(), other.handle()).node());
    CHECK_THROWS_WITH(s.run(wrong), contains("mutex is expected") && contains("semaphore of 1"));
    CHECK(make_op(mutex_acquire_op{})->is_async());
    CHECK(make_op(mutex_acquire_op{})->ordering() == step_ordering::turns);
}

} // namespace test_ops_sync_mutex_acquire
