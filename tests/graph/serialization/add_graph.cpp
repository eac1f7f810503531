// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/serialization/add_graph.hpp>

#include "catch.hpp"
#include "graph/sample_graph.hpp"

using namespace rill;

TEST_CASE("add_graph: into another graph, below a prefix") {
    using sample_graph::sample;
    const graph from = sample(), to;
    const graph_scope here(to);
    placeholder<float> x("x");
    detail::add_graph(from, to, "part");
    CHECK(to.size() == from.size() + 1);
    CHECK(to.state().find("part/layer/y")->inputs[0].from == to.state().find("part/x"));
    CHECK(to.state().initializer(to.state().find("part/layer/w"))->name == "part/layer/w/initialize");
    CHECK(to.collection("mine").at(0).from->name == "part/layer/y");
    detail::add_graph(from, to, "part");
    CHECK(to.state().find("part_1/layer/y"));
    {
        const name_scope scope("outer");
        detail::add_graph(from, to, "part");
    }
    CHECK(to.state().find("outer/part/x"));
    const auto before = to.size();
    CHECK_THROWS_AS(detail::add_graph(from, to, ""), already_exists);
    CHECK_THROWS_WITH(detail::add_graph(from, to, ""), contains("of these names: 'x'"));
    CHECK_THROWS_AS(detail::add_graph(from, to, "not valid"), invalid_argument);
    CHECK_THROWS_AS(detail::add_graph(from, to, "part/"), invalid_argument);
    CHECK(to.size() == before);
    const graph empty;
    const graph_scope there(empty);
    detail::add_graph(from, empty, "");
    CHECK(empty.state().find("layer/y"));
}

TEST_CASE("add_graph: loops and branches, into a body too") {
    const graph from;
    {
        const graph_scope here(from);
        placeholder<float> x("x");
        const auto y = cond(
            x > 0.f, [&] { return fold([&](auto a, auto b) { return a * x + b; }, 1.f, constant({2.f, 3.f})); },
            [&] { return -x; });
        const auto [d] = gradients(y, x);
        const tensor named(d, "d");
    }
    const graph_scope here{graph()};
    detail::add_graph(from, current_graph(), "p");
    const session s;
    CHECK(s.run(fetch("p/d:0"), feed("p/x:0", 2.f)).value<float>() == 2.f * 2.f + 2.f);
    CHECK(s.run(fetch("p/d:0"), feed("p/x:0", -2.f)).value<float>() == -1.f);
    CHECK(current_graph().state().find("p/cond")->bodies);
}
