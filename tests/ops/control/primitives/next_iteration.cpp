// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/primitives/next_iteration.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("next_iteration: keeps the type, and lies in the loop of its merge") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    static_assert(std::is_same_v<decltype(next_iteration(x)), tensor<float, dyn>>);
    CHECK_THROWS_WITH(session().run(next_iteration(x), feed(x, {1.f})), contains("lies in no loop"));
    // of another loop than the merge
    const auto a = merge(enter(constant(1.f), "a"));
    const auto go = loop_cond(a.value < 3.f);
    const auto way = switch_(a.value, go);
    close_loop({{a, next_iteration(enter(way.if_true, "b"))}});
    CHECK_THROWS_WITH(session().run(leave(way.if_false)),
                      contains("what comes back to 'merge' of the loop 'a' lies in another one"));
}
