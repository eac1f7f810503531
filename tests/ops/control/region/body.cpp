// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/region/body.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

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

TEST_CASE("body: what a body returns belongs to the scopes that it returns from") {
    const graph_scope here{graph()};
    int calls = 0;
    const operation outside = host_call([&] { ++calls; });
    const auto loop = while_loop([](auto i) { return i < 3; },
                                 [&](auto i) {
                                     const control_dependencies after(outside);
                                     return i + 1;
                                 },
                                 0);
    variable<float> v("v", 1.f);
    const auto sum = while_loop([](auto i, auto) { return i < 5; },
                                [&](auto i, auto t) {
                                    const control_dependencies after(v.assign(v * 2.f));
                                    return std::tuple(i + 1, t + v);
                                },
                                0, 0.f);
    const auto chosen = cond(
        constant(true),
        [&] {
            const control_dependencies after(v.assign(7.f));
            const control_dependencies more(outside);
            return v * 1.f;
        },
        [&] { return v * 2.f; });
    const session s;
    s.run(global_variables_initializer());
    CHECK(s.run(loop) == 3);
    CHECK(calls == 1);
    CHECK(s.run(std::get<1>(sum)) == 2.f + 4 + 8 + 16 + 32);
    CHECK(s.run(chosen) == 7.f);
    CHECK(calls == 2);
    // but an operand is none of its results
    { const control_dependencies after(outside); }
    const auto last = while_loop([](auto t) { return t < 3.f; }, [](auto t) { return t * 2.f; }, v * 0.25f);
    CHECK(s.run(last) == 3.5f);
    CHECK(calls == 2);
}

TEST_CASE("body: what takes something out runs with the body, whoever needs it") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q;
    const tensor_stack<int> stack;
    const auto loop = while_loop([](auto i) { return i < 2; },
                                 [&](auto i) {
                                     q.dequeue();
                                     q.template dequeue_many<2>();
                                     stack.pop();
                                     return i + 1;
                                 },
                                 0);
    const auto branch = cond(constant(true), [&] { q.dequeue(); }, [] {});
    const session s;
    s.run(q.enqueue_many(range(0, 10)));
    for (int k = 0; k < 2; ++k) s.run(operation(stack.push(k).node()));
    s.run(loop);
    CHECK(s.run(q.size()) == 4);
    CHECK(s.run(stack.size()) == 0);
    s.run(branch);
    CHECK(s.run(q.size()) == 3);
    CHECK_THROWS_AS(s.run(loop), failed_precondition); // the stack is empty
}
