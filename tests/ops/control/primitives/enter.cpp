// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/primitives/enter.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("enter: a loop has a name and room for an iteration") {
    const graph_scope here{graph()};
    CHECK_THROWS_WITH(enter(constant(1), ""), contains("a loop needs a name"));
    CHECK_THROWS_WITH(enter(constant(1), "a", {.parallel_iterations = 0}),
                      contains("parallel_iterations must be at least 1"));
    CHECK(enter(constant({1.f, 2.f}), "a").static_shape() == dims{2});
}

TEST_CASE("enter: what never leaves can't be fetched, and two loops don't mix") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const session s;
    CHECK_THROWS_WITH(s.run(tensor(enter(x, "a") * 2.f, "inner"), feed(x, 1.f)),
                      contains("'inner:0' lies in the loop 'a'"));
    const tensor mixed(enter(x, "a") + enter(x, "b"), "mixed");
    CHECK_THROWS_WITH(s.run(leave(mixed), feed(x, 1.f)),
                      contains("of the loop 'a'") && contains("of the loop 'b', neither of which lies in the other"));
}

TEST_CASE("enter: a value that goes straight through, once") {
    for (const bool raised : {true, false}) {
        const graph_scope here{graph()};
        placeholder<float> x("x");
        const session s({.raise_primitives = raised});
        CHECK(s.run(leave(enter(x, "a") * 2.f), feed(x, 3.f)) == 6.f);
        CHECK(s.run(leave(leave(enter(enter(x, "a"), "b") + x)), feed(x, 3.f)) == 6.f); // x as if it had entered
    }
}
