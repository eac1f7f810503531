// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/control_flow_kind.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("control_flow_kind: what is no primitive is false") {
    CHECK_FALSE(control_flow_kind{});
    CHECK(control_flow_kind{control_flow_kind::form::merges});
}
