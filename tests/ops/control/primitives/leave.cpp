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

TEST_CASE("leave: exit_ adds the same op, at the place of its call") {
    const graph_scope here{graph()};
    const placeholder<float> x("x");
    static_assert(std::is_same_v<decltype(exit_(x)), decltype(leave(x))>);
    const auto at = std::source_location::current();
    const auto out = exit_(x, at);
    CHECK(out.end().from->op->name() == leave(x).end().from->op->name());
    CHECK(out.end().from->where.line() == at.line());
    CHECK_THROWS_WITH(session().run(out, feed(x, 1.f)), contains("exit: 'exit' lies in no loop"));
}
