// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/body.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("body: what it takes from outside are inputs of its node, each once, constants none") {
    const graph_scope here{graph()};
    placeholder<float> a("a"), b("b");
    const variable<float> v("v", 0.f), w("w", 0.f);
    const auto y = cond(
        a > 0.f,
        [&] {
            v.assign_add(a);
            return a * b + w + constant(3.f) + v;
        },
        [&] { return b * 2.f; });
    const node& n = *y.node();
    const auto& use = *n.op->regions();
    CHECK(use.operands == 1);
    CHECK(use.captures == 3); // a, b, w
    CHECK(use.written == 1);
    REQUIRE(n.inputs.size() == 5);
    CHECK(n.inputs[4] == v.end());
    CHECK(n.op->writes()[0] == 4);
    CHECK(n.op->stateful());
    const auto& bodies = *n.bodies;
    CHECK(bodies[0].captures.size() == 3);
    CHECK(bodies[1].captures == std::vector<endpoint>{b.end()});
    CHECK(n.inputs[bodies[1].captured[0]] == b.end());
    CHECK(bodies[0].effects.size() == 1);
    const auto pure = cond(a > 0.f, [&] { return a; }, [&] { return b; });
    CHECK_FALSE(pure.node()->op->stateful());
}

TEST_CASE("body: a constant from outside is what it is there: to feed another value is refused") {
    const graph_scope here{graph()};
    const tensor limit(constant(2), "limit"), free = identity(limit);
    const auto loop = [](const auto& most) {
        return std::get<0>(while_loop([&](auto i, auto) { return i < most; },
                                      [](auto i, auto v) { return std::tuple(i + 1, v + 1.f); }, 0,
                                      constant({1.f, 2.f})));
    };
    const auto knows = loop(limit), asks = loop(free);
    placeholder<bool> p("p");
    const auto none = [&] { return limit - limit; };
    const auto inner = [&] { return cond(p, [&] { return limit * 3; }, none); };
    const auto deep = cond(p, inner, none);
    const session s;
    CHECK(s.run(knows) == 2);
    CHECK_THROWS_WITH(s.run(knows, feed(limit, 5)),
                      contains("constant 'limit'") && contains("is fed, but '") && contains("identity()"));
    CHECK_THROWS_AS(s.run(deep, feed(limit, 5), feed(p, true)), invalid_argument);
    CHECK(s.run(asks, feed(limit, 5)) == 5);
    CHECK(s.run(limit + 1, feed(limit, 5)) == 6); // of what runs, no body reads it
}

TEST_CASE("body: names, scopes and dependencies") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const name_scope outer("model");
    const control_dependencies after(x);
    any_tensor inside;
    const auto y = while_loop([](auto i) { return i < 3.f; },
                              [&](auto i) {
                                  const name_scope layer("layer");
                                  inside = tensor(i + 1.f, "sum");
                                  return tensor<float>(inside);
                              },
                              0.f);
    CHECK(y.name() == "model/while:0");
    CHECK(inside.name() == "model/while/body/layer/sum:0");
    CHECK(y.node()->control_inputs[0] == x.node());
    CHECK(inside.node()->control_inputs.empty());
    CHECK(while_loop([](auto i) { return i < 3.f; }, [](auto i) { return i + 1.f; }, 0.f).name() == "model/while_1:0");
}
