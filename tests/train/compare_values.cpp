// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/compare_values.hpp>

#include <cmath>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/variables.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"

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

namespace test_compare_values {

/// A graph whose nodes run on one of two devices.
struct program {
    graph g;
    graph_scope here{g};
    device_scope on;
    placeholder<float, dyn> x{"x"}, unfed{"unfed"};
    variable<float> w{"w", 2.f}, hidden{"hidden", 1.f};
    tensor<float, dyn> y = tanh(x * w);
    tensor<float, dyn> z = y * hidden;
    tensor<float, dyn> lost = unfed * 2.f;
    operation write{w.assign_add(1.f).node()};
    session s{g, {.device_count = {{"cpu", 2}}}};

    explicit program(const std::string& device) : on(device) { s.run(global_variables_initializer()); }
};

} // namespace test_compare_values

TEST_CASE("compare_values: all edges that a step can fetch, of sessions on two devices") {
    const test_compare_values::program a("/device:cpu:0"), b("/device:cpu:1");
    const auto given = [&] { return feed(a.x, xt::xtensor<float, 1>{1, 0.5}); };
    CHECK(compare_values(a.s, b.s, given()).empty());
    CHECK(a.s.run(a.w) == 2); // nothing was written
    b.s.run(b.hidden.assign(std::nextafter(1.f, 2.f)));
    const auto apart = compare_values(a.s, b.s, given());
    REQUIRE(apart.size() >= 1);
    CHECK(apart[0].edge == "hidden:0");
    CHECK(apart[0].ulps == 1);
    CHECK(compare_values(a.s, b.s).size() == 1); // without a feed only variables and constants
    const auto edges = detail::fetchable_edges(a.g, {given()});
    const auto has = [&](const auto& handle) {
        for (const auto& e : edges)
            if (e.node() == handle.node()) return true;
        return false;
    };
    CHECK((has(a.x) && has(a.w) && has(a.y) && has(a.z)));
    CHECK_FALSE((has(a.unfed) || has(a.lost) || has(a.write)));
    CHECK(detail::fetchable_edges(a.g, {feed_value{{}, "x:0", io_test::array_of<float>({1}, {1})}}).size() ==
          edges.size());
}
