// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/mutex_release.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_mutex_release {

TEST_CASE("mutex_release: in another run of the session than the one that took it") {
    const graph_scope here{graph()};
    const mutex lock("lock");
    const session s;
    for (int k = 0; k < 3; ++k) {
        s.run(lock.acquire());
        s.run(lock.release());
    }
    CHECK_THROWS_AS(s.run(lock.release()), failed_precondition);
    CHECK_FALSE(make_op(mutex_release_op{})->is_async());
    CHECK(make_op(mutex_release_op{})->ordering() == step_ordering::turns);
}

} // namespace test_ops_sync_mutex_release
