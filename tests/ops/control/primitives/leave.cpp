// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/primitives/leave.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("leave: what never entered can't leave") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto lost = leave(x);
    CHECK_THROWS_AS(session().run(lost, feed(x, 1.f)), invalid_argument);
    CHECK_THROWS_WITH(session().run(lost, feed(x, 1.f)), contains("exit: 'exit' lies in no loop"));
    CHECK(session().run(lost, feed(lost, 2.f)) == 2.f); // a fed edge asks for nothing
}
