// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/flow_use.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("flow_use: what is no primitive is false") {
    CHECK_FALSE(flow_use{});
    CHECK(flow_use{flow_use::form::merges});
}
