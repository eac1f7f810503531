// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/recorded_loop.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_recorded_loop {

TEST_CASE("recorded_loop: an iteration follows while the condition holds, some are left, and no kernel has failed") {
    bool holds = true;
    error_record condition, iteration;
    loop_progress progress{.most = 2};
    const loop_decision decision{&holds, &condition, &iteration, &progress};
    CHECK(decision.next());
    CHECK(decision.next());
    CHECK_FALSE(decision.next());
    CHECK(progress.done == 2);
    CHECK(progress.goes_on);
    progress = {.most = 2};
    iteration.step = 7;
    CHECK_FALSE(decision.next());
    CHECK(progress.has_failed);
    CHECK_FALSE(progress.goes_on);
    iteration = {};
    holds = false;
    CHECK_FALSE(decision.next());
    CHECK_FALSE(progress.has_failed);
    CHECK(progress.done == 0);
}

} // namespace test_recorded_loop
