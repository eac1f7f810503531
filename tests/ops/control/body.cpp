// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/body.hpp>

#include <rill/ops/catalogue.hpp>

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
