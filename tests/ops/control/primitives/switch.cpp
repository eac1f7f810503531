// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/primitives/switch.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("switch: one output is live, the other and what needs it are dead") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    placeholder<bool> p("p");
    const auto [off, on] = switch_(x, p);
    static_assert(std::is_same_v<decltype(on), const tensor<float, dyn>>);
    const tensor twice(on * 2.f, "twice");
    const session s;
    CHECK(s.run(twice, feed(x, {1.f, 2.f}), feed(p, true))(1) == 4.f);
    CHECK(s.run(off, feed(x, {1.f, 2.f}), feed(p, false))(1) == 2.f);
    try {
        s.run(twice, feed(x, {1.f, 2.f}), feed(p, false));
        FAIL("it is dead");
    } catch (const invalid_argument& problem) {
        CHECK_THAT(problem.what(), contains("'twice:0' is dead"));
    }
    const any_tensor data = x;
    const auto untyped = switch_(data, any_tensor(p));
    CHECK(s.run(untyped.if_true, feed(x, {3.f}), feed(p, true)).value<float>() == 3.f);
}

TEST_CASE("switch: the predicate must be a bool of rank 0, and gradients say what to write instead") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    CHECK_THROWS_WITH(switch_(x, any_tensor(x)), contains("the predicate must be a bool of rank 0, not float32"));
    CHECK_THROWS_WITH(switch_(x, any_tensor(constant({true}))), contains("bool of rank 0"));
    const auto [off, on] = switch_(x, sealed(x > 0.f));
    const auto y = merge(off, on * 2.f);
    CHECK_THROWS_AS(gradients(y.value, x), unimplemented);
    CHECK_THROWS_WITH(gradients(y.value, x), contains("Merge has no gradient") && contains("use cond and while_loop"));
}
