// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/functionalize/loop_structure.hpp>

#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("loop_structure: the parts of a loop, and what has no such form") {
    const graph_scope here{graph()};
    const placeholder<int> n("n");
    const auto i = merge(enter(constant(0), "l"));
    const auto limit = enter(n, "l", {.is_constant = true});
    const auto go = loop_cond(i.value < limit);
    const auto way = switch_(i.value, go);
    close_loop({{i, next_iteration(way.if_true + 1)}});
    const tensor<int> last = leave(way.if_false), doubled = leave(way.if_false * 2);
    const auto parts = [&](const tensor<int>& fetched) {
        const std::vector<endpoint> fetches{fetched};
        const detail::flow_graph g({fetches, {}, {}});
        std::vector<const node*> nodes;
        for (const auto* each : g.nodes())
            if (detail::frame_of_inputs(g, each) != detail::flow_graph::outside) nodes.push_back(each);
        CHECK(detail::frame_of_inputs(g, fetched.node()) == g.frame_of(go.node()));
        CHECK(g.frame_of(fetched.node()) == detail::flow_graph::outside);
        return detail::find_loop(g, g.frame_of(go.node()), nodes);
    };
    const auto found = parts(last);
    REQUIRE(found);
    CHECK(found->merges == std::vector<const node*>{i.value.node()});
    CHECK(found->leaves == std::vector<const node*>{last.node()});
    REQUIRE(found->bodies.size() == 2);
    CHECK(found->bodies[0].captures() == std::vector<endpoint>{n.end()}); // of the condition: what enters as a constant
    CHECK(found->bodies[1].captures().empty());
    CHECK_FALSE(parts(doubled)); // it leaves before the condition is asked
}
