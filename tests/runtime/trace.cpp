// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/trace.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("trace: where a node stands in the order of execution") {
    step_trace t;
    CHECK(t.position("a") == -1);
    t.entries = {{"a", "Add", 0, 5}, {"b", "Mul", 5, 9}};
    CHECK(t.position("a") == 0);
    CHECK(t.position("b") == 1);
    CHECK(t.position("c") == -1);
}
