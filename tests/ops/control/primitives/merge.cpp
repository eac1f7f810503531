// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/primitives/merge.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_control_merge {

/// 0 + 1 + … + (n - 1), of primitives; `close` says what comes back.
struct counting {
    graph g;
    graph_scope here{g};
    placeholder<int> n{"n"};
    merged<tensor<int>> i = merge(enter(constant(0), "sum"));
    merged<tensor<int>> sum = merge(enter(constant(0), "sum"));
    tensor<bool> go = loop_cond(i.value < enter(n, "sum", {.is_constant = true}));
    switched<tensor<int>> i_way = switch_(i.value, go), sum_way = switch_(sum.value, go);
    tensor<int> result = leave(sum_way.if_false);

    void close() {
        close_loop({{i, next_iteration(i_way.if_true + 1)}, {sum, next_iteration(sum_way.if_true + i_way.if_true)}});
    }
};

TEST_CASE("merge: the one that is live, and its number") {
    for (const bool raised : {true, false}) {
        const graph_scope here{graph()};
        placeholder<float> x("x");
        const auto [off, on] = switch_(x, sealed(x > 0.f));
        const auto y = merge(off * -1.f, on * 2.f);
        const session s({.raise_primitives = raised});
        CHECK(s.run(std::tuple(y.value, y.index), feed(x, 3.f)) == std::tuple(6.f, 1));
        CHECK(s.run(std::tuple(y.value, y.index), feed(x, -3.f)) == std::tuple(3.f, 0));
        CHECK(s.run(merge(on, off).index, feed(x, 3.f)) == 0);
        // what three switches lead to is no branch of two
        const auto [small, large] = switch_(on, sealed(x > 10.f));
        const auto three = merge(off, small * 10.f, large * 100.f);
        CHECK(s.run(std::tuple(three.value, three.index), feed(x, 5.f)) == std::tuple(50.f, 1));
        CHECK(s.run(three.value, feed(x, 20.f)) == 2000.f);
        CHECK(s.run(three.value, feed(x, -1.f)) == -1.f);
        CHECK_THROWS_WITH(s.run(merge(off, small).value, feed(x, 20.f)), contains("is dead"));
    }
}

TEST_CASE("merge: two live inputs are an error that names it") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto both = merge(tensor(x * 2.f, "one"), tensor(x * 3.f, "other"));
    CHECK_THROWS_AS(session().run(both.value, feed(x, 1.f)), internal);
    CHECK_THROWS_WITH(session().run(both.value, feed(x, 1.f)), contains("'merge' has two live inputs"));
    CHECK_THROWS_AS(session().run(merge(x, x).value, feed(x, 1.f)), internal);
    CHECK_THROWS_AS(session().run(merge(constant(1.f), x).value, feed(x, 1.f)), internal);
}

TEST_CASE("merge: inputs agree in element type and rank, and what extents only one knows is not known") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    CHECK(merge(x, constant({1.f, 2.f})).value.static_shape() == dims{dyn});
    CHECK_THROWS_WITH(merge(any_tensor(x), any_tensor(constant(1))), contains("one input is float32"));
}

TEST_CASE("close_loop: a run sees no loop or the whole one") {
    counting c;
    const session s;
    CHECK_THROWS_AS(s.run(c.result, feed(c.n, 3)), invalid_argument);
    CHECK_THROWS_WITH(s.run(c.result, feed(c.n, 3)), contains("the loop of 'merge") && contains("is open"));
    c.close();
    CHECK(s.run(c.result, feed(c.n, 10)) == 45);
    CHECK(s.run(c.result, feed(c.n, 0)) == 0);
    CHECK(session({.raise_primitives = false}).run(c.result, feed(c.n, 10)) == 45);
    CHECK(c.g.state().back_edge(c.i.value.node()).from->op->name() == "NextIteration");
}

TEST_CASE("close_loop: refuses what is no loop, and then nothing is closed") {
    counting c;
    const auto next = next_iteration(c.i_way.if_true + 1);
    CHECK_THROWS_WITH(close_loop({{c.i, next}, {c.sum, c.i_way.if_true}}), contains("comes from no next_iteration"));
    CHECK_THROWS_WITH(close_loop({{c.i, next}, {c.i, next}}), contains("is given two back edges"));
    CHECK_THROWS_WITH(close_loop({{merge(c.n, c.n), next}}), contains("is not a merge of one value"));
    CHECK_THROWS_WITH(close_loop({{merged<any_tensor>{c.i.value, {}}, any_tensor(next_iteration(constant(1.f)))}}),
                      contains("is int32 [], its back edge is float32 []"));
    CHECK_THROWS_AS(close_loop(std::vector<back_edge>{}), invalid_argument);
    CHECK_FALSE(c.g.state().back_edge(c.i.value.node()));
    c.close();
    CHECK_THROWS_WITH(close_loop({{c.i, next}}), contains("has a back edge already"));
}

} // namespace test_ops_control_merge
