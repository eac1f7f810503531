// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/dense.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/relu.hpp>
#include <rill/runtime/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("dense: x w + b, two variables under the layer's name, fused with its activation") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 3> x("x");
    const tensor y = relu(dense<3, 2>("layer", x, constant_initializer(1), constant_initializer(-4)));
    static_assert(std::is_same_v<extents_of<decltype(y)>, extents<dyn, 2>>);
    CHECK(g.state().find("layer/kernel"));
    CHECK(g.state().find("layer/bias"));
    CHECK(y.node()->op->name() == "Relu(Add($0:float32,$1:float32))"); // bias and activation in one node
    session s;
    s.run(global_variables_initializer());
    const auto v = s.run(y, feed(x, {{1.f, 2.f, 3.f}, {0.f, 1.f, 0.f}}));
    CHECK(v(0, 1) == 2.f);
    CHECK(v(1, 0) == 0.f);
}
