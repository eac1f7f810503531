// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/variables.hpp>

#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("variables: lists of a graph, by scope") {
    const graph g;
    const graph_scope here(g);
    const variable<float> w("generator/w", 1.f), frozen("generator/frozen", 2.f, {.trainable = false}),
        other("generator_1/w", 3.f), local("count", 0.f, {.local = true});
    const auto names = [](const std::vector<any_tensor>& all) {
        std::string text;
        for (const auto& v : all) text += v.name() + " ";
        return text;
    };
    CHECK(names(global_variables()) == "generator/w:0 generator/frozen:0 generator_1/w:0 ");
    CHECK(names(trainable_variables()) == "generator/w:0 generator_1/w:0 ");
    CHECK(names(trainable_variables("generator")) == "generator/w:0 ");
    CHECK(names(global_variables("generator/")) == "generator/w:0 generator/frozen:0 ");
    CHECK(names(trainable_variables("generator/w")) == "generator/w:0 ");
    CHECK(names(local_variables()) == "count:0 ");
    CHECK(trainable_variables("gen").empty());
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(trainable_variables())[1].value<float>() == 3.f);
}
