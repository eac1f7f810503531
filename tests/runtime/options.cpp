// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/options.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("session options: automatic, strict and quiet unless told otherwise") {
    const session_options o;
    CHECK(o.inter_op_threads == -1);
    CHECK(o.intra_op_threads == -1);
    CHECK_FALSE(o.allow_soft_placement);
    CHECK_FALSE(o.log_device_placement);
    CHECK(o.learn); // where a placer can
    CHECK(o.memory == nullptr);
    CHECK(o.gpu.memory_fraction == 0);
    const session_options some{.intra_op_threads = 1, .allow_soft_placement = true, .gpu = {.allow_growth = true}};
    CHECK(some.inter_op_threads == -1);
    CHECK(some.gpu.allow_growth);
}
