// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/dense.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/relu.hpp>
#include <rill/session/session.hpp>

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

TEST_CASE("dense: a net that is applied twice in its scope has one set of weights") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 3> x("x");
    const auto net = [](const auto& in) {
        const variable_scope scope("q", {.reuse = reuse::automatic, .initializer = ones()});
        return sealed(dense<3, 2>("h", in));
    };
    const auto a = net(x), b = net(x * 2.f);
    CHECK(trainable_variables().size() == 2);
    CHECK(trainable_variables("q/h")[0].name() == "q/h/kernel:0");
    const session s(g);
    s.run(global_variables_initializer());
    const auto [once, twice] = s.run(std::tuple(a, b), feed(x, {{1.f, 2.f, 3.f}})); // the scope's initializer: ones
    CHECK(once(0, 0) == 6.f);
    CHECK(twice(0, 0) == 12.f);
    const auto alone = [&] { dense<3, 2>("alone", x); };
    alone();
    CHECK_THROWS_WITH(alone(), contains("'alone/kernel' exists") && contains("reuse::automatic"));
}

TEST_CASE("dense: of sizes that only run time knows") {
    const graph g;
    const graph_scope here(g);
    const index_t units = 5;
    placeholder<float, dyn, 3> x("x");
    const auto hidden = relu(dense("hidden", x, units, ones()));
    const tensor y = dense<2>("out", hidden, ones());
    const any_tensor any = dense("any", any_tensor(y), 4, ones());
    static_assert(std::is_same_v<extents_of<decltype(y)>, extents<dyn, 2>>);
    CHECK(trainable_variables("hidden")[0].static_shape() == dims{3, 5});
    CHECK(trainable_variables("out")[0].static_shape() == dims{5, 2});
    CHECK(trainable_variables("any")[0].static_shape() == dims{2, 4});
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(y, feed(x, {{1.f, 2.f, 3.f}}))(0, 1) == 30.f);
    CHECK(s.run(any, feed(x, {{1.f, 2.f, 3.f}})).elements<float>()[3] == 60.f);
    placeholder<float, dyn, dyn> open("open");
    CHECK_THROWS_WITH(dense("bad", open, 2), contains("last extent must be known") && contains("dense.cpp"));
    CHECK_THROWS_WITH(dense<2>("bad", any_placeholder("v", dtype::float32, {3})), contains("must have two dimensions or more"));
}
