// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/functionalize/flow_graph.hpp>

#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("flow_graph: in which loop each node lies, and what goes back") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const tensor before(n * 2, "before");
    const auto i = merge(enter(constant(0), "l"));
    const auto way = switch_(i.value, loop_cond(i.value < before)); // as if it had entered
    const auto inner = merge(enter(way.if_true, "inner"));
    const auto inner_way = switch_(inner.value, loop_cond(inner.value < enter(n, "inner"))); // from outside of both
    close_loop({{inner, next_iteration(inner_way.if_true + 1)}});
    const auto next = next_iteration(leave(inner_way.if_false) + 1);
    close_loop({{i, next}});
    const auto out = leave(way.if_false);

    const std::vector<endpoint> fetches{out}, feeds{n.end()};
    const detail::flow_graph g({fetches, {}, feeds});
    CHECK(g.has_primitives());
    const int l = g.frame_of(i.value.node()), in = g.frame_of(inner.value.node());
    CHECK(g.parent_of(l) == detail::flow_graph::outside);
    CHECK(g.parent_of(in) == l);
    CHECK(g.lies_in(in, l));
    CHECK_FALSE(g.lies_in(l, in));
    CHECK(g.frame_of(out.node()) == detail::flow_graph::outside);
    CHECK(g.frame_of(before.node()) == detail::flow_graph::outside);
    CHECK(g.frame_of(next.node()) == l);
    CHECK(g.back(i.value.node()) == next.end());
    CHECK_FALSE(g.back(out.node()));
    CHECK(g.fed(n));
    CHECK_FALSE(detail::flow_graph({feeds, {}, {}}).has_primitives());
}

TEST_CASE("flow_graph: values that are others, one after the other") {
    const graph_scope here{graph()};
    const tensor a(constant(1.f)), b(constant(2.f)), c(constant(3.f));
    const endpoint_map same{{{a.node(), 0}, b}, {{b.node(), 0}, c}};
    CHECK(detail::followed(same, a) == c.end());
    CHECK(detail::followed(same, c) == c.end());
}

TEST_CASE("flow_graph: a loop within a loop of its name never becomes that loop") {
    const graph_scope here{graph()};
    const tensor x(constant(1.f));
    const auto outer = enter(x, "l");
    const tensor both = enter(outer, "l") + enter(outer, "m");
    const std::vector<endpoint> fetches{both};
    CHECK_THROWS_AS(detail::flow_graph({fetches, {}, {}}), invalid_argument);
}
