// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/global_step.hpp>

#include <rill/ops/state/variables.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("global_step: one for a graph, in no name scope, not trained, and refused where it is none") {
    const graph g;
    const graph_scope here(g);
    CHECK_FALSE(get_global_step());
    const session s(g);
    CHECK(global_step_of(s) == 0);
    const auto step = [] {
        const name_scope scope("tower");
        return get_or_create_global_step();
    }();
    CHECK(step.name() == "global_step:0");
    CHECK(get_or_create_global_step().node() == step.node());
    CHECK(get_global_step().node() == step.node());
    CHECK(g.collection(collections::trainable_variables).empty());
    CHECK(global_step_of(s) == 0);
    s.run(global_variables_initializer());
    s.run(step.assign_add(3));
    CHECK(global_step_of(s) == 3);
    const variable<int> other("other", 0, {.collections = {collections::global_step}});
    CHECK_THROWS_AS(get_global_step(), invalid_argument);
    const graph_scope elsewhere{graph()};
    const variable<float> wrong("wrong", 0.f, {.collections = {collections::global_step}});
    CHECK_THROWS_WITH(get_or_create_global_step(), contains("'wrong:0' is float32 []"));
}
