// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/fill.hpp>

#include <rill/ops/array/shape.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("fill: a constant of one value") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    static_assert(std::is_same_v<decltype(fill<2, 3>(7.f)), constant_value<float, 2, 3>>);
    const auto value = s.run(fill<2, 3>(7.f));
    CHECK(std::all_of(value.begin(), value.end(), [](float v) { return v == 7.f; }));
    CHECK(s.run(fill<>(3)) == 3);
    CHECK(s.run(fill<2>(std::string("text")))(1) == "text");
    CHECK(s.run(fill<0, 2>(1.)).size() == 0);
    CHECK(s.run(fill(dims{2}, true)).elements<bool>()[1]);
    CHECK_THROWS_AS(fill(dims{dyn}, 1), invalid_argument);
}

TEST_CASE("fill: has the place where it was made") {
    CHECK(fill<2>(7.f).where().line() == std::source_location::current().line());
}

TEST_CASE("fill: the gradient by the value of one whose shape is a tensor") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double> v("v");
    placeholder<double, dyn, dyn> y("y");
    const auto [dv] = gradients(fill(shape(y), v) * v, v);
    CHECK(s.run(dv, feed(v, 3.), feed(y, xt::xtensor<double, 2>({2, 2}))) == 24.);
}
