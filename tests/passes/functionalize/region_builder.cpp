// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/functionalize/region_builder.hpp>

#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("region_builder: what is inside, what is taken from outside, what is written and waited for") {
    const graph_scope here{graph()};
    placeholder<float> x("x"), y("y");
    variable<float> w("w", 0.f);
    const tensor outside(x * 2.f, "outside");
    const tensor argument(y + 1.f, "argument");
    const auto first = w.assign_add(1.f);
    tensor<float> inner;
    {
        const control_dependencies after(first, outside);
        inner = tensor(outside * argument + y, "inner");
    }
    const std::vector<endpoint> fetches{inner};
    const detail::flow_graph g({fetches, {}, {}});
    detail::region_builder builder(g, [&](const node* n) { return n == inner.node() || n == first.node(); },
                                   {{{y.node(), 0}, x.end()}}, {argument});
    builder.give(inner);
    CHECK((builder.nodes().size() == 2 && builder.nodes().contains(inner.node()) &&
           builder.nodes().contains(first.node())));
    CHECK(std::ranges::find(builder.captures(), outside.end()) != builder.captures().end());
    CHECK(std::ranges::find(builder.captures(), x.end()) != builder.captures().end()); // y is x there
    CHECK(std::ranges::find(builder.captures(), argument.end()) == builder.captures().end());
    CHECK(builder.written() == std::vector<endpoint>{w.end()});
    CHECK(builder.waits() == std::vector<const node*>{outside.node()});
    const auto b = builder.finish(nullptr, false);
    CHECK(b.results == std::vector<endpoint>{inner});
    CHECK(b.arguments == std::vector<endpoint>{argument});
    CHECK(b.functionalized->nodes.contains(inner.node()));
    CHECK(detail::is_stateful(first.node()));
    CHECK_FALSE(detail::is_stateful(inner.node()));
}
