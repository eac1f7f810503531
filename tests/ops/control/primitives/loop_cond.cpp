// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/primitives/loop_cond.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("loop_cond: takes a bool of rank 0, in a loop") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    CHECK_THROWS_WITH(loop_cond(any_tensor(x)), contains("the condition must be a bool of rank 0, not float32"));
    CHECK_THROWS_WITH(session().run(loop_cond(x > 0.f), feed(x, 1.f)), contains("lies in no loop"));
}
