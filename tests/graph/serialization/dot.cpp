// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/serialization/dot.hpp>

#include <sstream>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("dot: nodes, edges of both kinds, devices and bodies") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 3> x("x");
    const device_scope on("/cpu:1");
    const tensor y(x * 2.f, "layer/y");
    const control_dependencies after(y);
    const tensor<float, 3> z(cond(placeholder<bool>("p"), [&] { return x * 3.f; }, [&] { return x * 4.f; }));
    std::ostringstream to;
    write_dot(g, to);
    const auto text = to.str();
    CHECK_THAT(text, contains("digraph {"));
    CHECK_THAT(text, contains("label=\"layer/y (Mul"));
    CHECK_THAT(text, contains("tooltip=\"/device:cpu:1\""));
    CHECK_THAT(text, contains("n0 -> n") && contains("label=\"float32 [3]\""));
    CHECK_THAT(text, contains("style=dashed"));
    CHECK_THAT(text, contains("subgraph cluster_0 {") && contains("subgraph cluster_1 {"));
    CHECK(std::count(text.begin(), text.end(), '{') == std::count(text.begin(), text.end(), '}'));
    CHECK_THROWS_AS(write_dot(g, "/no/such/folder/g.dot"), unavailable);
}
