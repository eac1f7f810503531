// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/initializers.hpp>

#include <rill/eager/evaluate.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/session/session.hpp>

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
        variable<int, 2, 2> listed("listed", constant_initializer({1, 2, 3, 4}));
        session s;
        s.run(global_variables_initializer());
        const auto [gv, hv, uv, tv, zv, ov, cv, lv] = s.run(std::tuple(glorot, he, uniform, tight, z, o, c, listed));
        CHECK((lv(0, 1) == 2 && lv(1, 1) == 4));
        CHECK_THROWS_WITH((variable<float, 3>("wrong", constant_initializer({1, 2}))), contains("2 values") && contains("[3]"));
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

namespace test_initializers {

struct moments {
    double mean = 0, deviation = 0, least = 0, most = 0;
};
template <class X> moments of(const X& x) {
    double sum = 0, squares = 0;
    moments m;
    for (const double v : x) {
        sum += v;
        squares += v * v;
        m.least = std::min(m.least, v);
        m.most = std::max(m.most, v);
    }
    const auto n = static_cast<double>(x.size());
    m.mean = sum / n;
    m.deviation = std::sqrt(squares / n - m.mean * m.mean);
    return m;
}

/// Draws a variable of 300 x 200: within `limit`, of that deviation, around 0.
template <class Initializer> void check(const char* name, const Initializer& by, double limit, double deviation) {
    const graph g;
    const graph_scope here(g);
    const variable<double, 300, 200> w("w", by);
    session s;
    s.run(global_variables_initializer());
    const auto m = of(s.run(w));
    INFO(name);
    CHECK(m.most <= limit);
    CHECK(m.least >= -limit);
    CHECK(m.most > 0.99 * limit); // 60,000 draws come near it
    CHECK(m.least < -0.99 * limit);
    CHECK(m.deviation == Approx(deviation).epsilon(0.015));
    CHECK(std::abs(m.mean) < 5 * deviation / std::sqrt(60000.));
}

} // namespace test_initializers

TEST_CASE("initializers: distributions by the published formulas") {
    using test_initializers::check;
    // a uniform one has its limit over sqrt(3); a normal one, cut at 2, loses so much of its deviation
    const double uniform = 1 / std::sqrt(3.), cut = 0.8796256610342398;
    const auto limit = [](double scale, double n) { return std::sqrt(3 * scale / n); };
    const auto normal = [&](const char* name, const auto& by, double scale, double n) {
        check(name, by, 2 * std::sqrt(scale / n), cut * std::sqrt(scale / n));
    };
    check("glorot_uniform", glorot_uniform(), limit(1, 250), uniform * limit(1, 250));
    check("he_uniform", he_uniform(), limit(2, 300), uniform * limit(2, 300));
    check("lecun_uniform", lecun_uniform(), limit(1, 300), uniform * limit(1, 300));
    normal("glorot_normal", glorot_normal(), 1, 250);
    normal("he_normal", he_normal(), 2, 300);
    normal("lecun_normal", lecun_normal(), 1, 300);
    using fan = variance_scaling_options::fan;
    normal("variance_scaling", variance_scaling({.scale = 3, .mode = fan::out}), 3, 200);
    check("variance_scaling, uniform", variance_scaling({.scale = 3, .mode = fan::out, .uniform = true}), limit(3, 200),
          uniform * limit(3, 200));
}

TEST_CASE("initializers: orthogonal and identity") {
    const auto draw = [](std::uint64_t seed) {
        const graph g;
        g.set_seed(seed);
        const graph_scope here(g);
        const variable<double, 3, 3, 20> kernel("kernel", orthogonal(2.));
        const variable<float, 3, 2> tall("tall", orthogonal());
        const variable<int, 2, 3> one("one", identity());
        const variable<float, 2, 2> two("two", identity(2.));
        session s;
        s.run(global_variables_initializer());
        const auto [k, t, o, w] = s.run(std::tuple(kernel, tall, one, two));
        double same = 0, other = 0; // 9 rows of 20, the axes before the last
        for (std::size_t i = 0; i < 20; ++i) {
            same += k(1, 2, i) * k(1, 2, i);
            other += k(1, 2, i) * k(2, 0, i);
        }
        CHECK(same == Approx(4));
        CHECK(std::abs(other) < 1e-13);
        CHECK(t(0, 0) * t(0, 1) + t(1, 0) * t(1, 1) + t(2, 0) * t(2, 1) == Approx(0).margin(1e-6));
        CHECK((o(0, 0) == 1 && o(1, 1) == 1 && o(0, 1) == 0 && o(1, 2) == 0));
        CHECK((w(0, 0) == 2 && w(1, 1) == 2 && w(0, 1) == 0));
        return k(0, 0, 0);
    };
    CHECK(draw(1) == draw(1));
    CHECK(draw(1) != draw(2));
    const graph g;
    const graph_scope here(g);
    CHECK_THROWS_WITH((variable<float, 3>("v", orthogonal())), contains("a matrix is expected"));
    CHECK_THROWS_WITH((variable<float, 3>("v", identity(1.))),
                      contains("identity: a matrix is initialised") && contains("[3]"));
    CHECK(evaluate([] { return identity(constant(3.f)); }) == 3.f); // still the op
}
