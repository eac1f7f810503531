// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/initializers.hpp>

#include <rill/runtime/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("initializers: values, ranges, and the same seed the same numbers") {
    const auto draw = [](std::uint64_t seed) {
        const graph g;
        g.set_seed(seed);
        const graph_scope here(g);
        variable<float, 50, 40> glorot("glorot", glorot_uniform()), he("he", he_normal());
        variable<float, 100> uniform("uniform", random_uniform({.minval = 2, .maxval = 3})),
            tight("tight", truncated_normal({.stddev = 0.1}));
        variable<int, 4> z("z", zeros()), o("o", ones());
        variable<float, 2> c("c", constant_initializer(0.5));
        session s;
        s.run(global_variables_initializer());
        const auto [gv, hv, uv, tv, zv, ov, cv] = s.run(std::tuple(glorot, he, uniform, tight, z, o, c));
        for (const float v : gv) REQUIRE(std::abs(v) <= std::sqrt(6.f / 90.f));
        for (const float v : hv) REQUIRE(std::abs(v) <= 2.f * std::sqrt(2.f / 50.f) * 1.0001f);
        for (const float v : uv) REQUIRE((v >= 2.f && v < 3.f));
        for (const float v : tv) REQUIRE(std::abs(v) <= 0.2f);
        CHECK(zv(3) == 0);
        CHECK(ov(3) == 1);
        CHECK(cv(1) == 0.5f);
        return gv;
    };
    const auto a = draw(1), b = draw(1), c = draw(2);
    CHECK(std::equal(a.begin(), a.end(), b.begin()));
    CHECK_FALSE(std::equal(a.begin(), a.end(), c.begin()));
    CHECK(variance_scaling::fans(dims{3, 3, 8, 16}) == std::pair<double, double>(72, 144));
    CHECK(variance_scaling::fans(dims{7}) == std::pair<double, double>(7, 7));
}
