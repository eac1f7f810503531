// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/compare_values.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/ops/state/variable.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("compare_values: equal sessions, the first divergence, and graphs that differ in types") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn> x("x");
    const variable<float> w("w", 2.f);
    const tensor<float, dyn> product = x * w;
    const tensor<float, dyn> y = tanh(product);
    const session a(g), b(g);
    a.run(global_variables_initializer());
    b.run(global_variables_initializer());
    const std::vector<feed_value> feeds{feed(x, xt::xtensor<float, 1>{1, 0.5})};
    CHECK(compare_values(a, b, {y}, feeds).empty());
    b.run(w.assign(std::nextafter(2.f, 3.f)));
    const auto apart = compare_values(a, b, {y}, feeds);
    REQUIRE(apart.size() >= 2);
    CHECK(apart[0].edge == "w:0");
    CHECK(apart[0].ulps == 1);
    CHECK(apart[0].relative < 2e-7);
    CHECK(apart[1].edge == product.name());
    const graph other;
    const graph_scope there(other);
    const placeholder<float, dyn> x2("x");
    const variable<double> w2("w", 2.);
    const session c(other);
    c.run(w2.initializer());
    const auto types = compare_values(a, c, {w}, {});
    REQUIRE(types.size() == 1);
    CHECK(types[0].problem == "float32 [] and float64 []");
}
