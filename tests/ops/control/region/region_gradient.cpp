// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/region/region_gradient.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE(
    "region_gradient: what is elementwise is computed again, what costs more is kept, and nothing that is not needed") {
    const graph_scope here{graph()};
    placeholder<double, 5, 3> xs("xs");
    const variable<double, 3, 3> w("w", ones());
    const auto kept = [](const any_tensor& y) {
        return y.node()->owner->last_variant(y.node())->outputs.size() - y.node()->outputs.size();
    };
    // a product's result, its state, and not the sums before tanh
    const auto network =
        fold([&](auto h, auto in) { return tanh(tanh(matmul(h, w)) + in); }, zeros<double, 2, 3>(), xs);
    gradients(network, w);
    CHECK(kept(network) == 2);
}

TEST_CASE("region_gradient: gradients by what is not reached are zeros, and by whole numbers none") {
    const graph_scope here{graph()};
    placeholder<double> x("x"), y("y");
    const auto z = fold([&](auto h, auto in) { return h + x * cast<double>(in); }, 1., constant({1, 2, 3}));
    const auto [dx, dy] = gradients(z, x, y);
    const session s;
    CHECK(s.run(std::tuple(dx, dy), feed(x, 2.), feed(y, 1.)) == std::tuple(6., 0.));
}

TEST_CASE("region_gradient: writes and draws in an inner body are refused, with the node") {
    const graph_scope here{graph()};
    placeholder<double> x("x");
    const auto y = fold(
        [&](auto h, auto) {
            return while_loop([](auto v) { return v < 10.; },
                              [](auto v) { return v + random_uniform<double>({.seed = 1}); }, h * x);
        },
        1., constant({1, 2}));
    CHECK_THROWS_WITH(gradients(y, x), contains("draws random numbers") && contains("fold/body/while"));
    // what is written in an inner body, and not needed, is no obstacle
    const variable<double> sum("sum", 0.);
    const auto counted = fold(
        [&](auto h, auto) {
            return while_loop([](auto v) { return v < 10.; },
                              [&](auto v) {
                                  sum.assign_add(v);
                                  return v * 2.;
                              },
                              h * x);
        },
        1., constant({1, 2}));
    const auto [dc] = gradients(counted, x);
    const session s;
    s.run(sum.initializer());
    CHECK(s.run(std::tuple(counted, dc), feed(x, 3.)) == std::tuple(36., 24.)); // 3, 6, 12, then 36
    CHECK(s.run(sum) == 9.);
    const variable<double> v("v", 1.);
    const auto z = fold(
        [&](auto h, auto) {
            const control_dependencies after(v.assign_add(1.));
            return tensor(h * v * x);
        },
        1., constant({1, 2}));
    CHECK_THROWS_AS(gradients(z, x), unimplemented);
}

TEST_CASE("region_gradient: a variable that the body writes, as it was at the start of each iteration") {
    const graph_scope here{graph()};
    placeholder<double> x("x");
    const variable<double> v("v", 1.);
    const auto y = fold(
        [&](auto h, auto) {
            const tensor next = h * v * x;
            v.assign_add(1.);
            return next;
        },
        1., constant({1, 2, 3})); // 1 * 2 * 3 * x^3
    const auto [d] = gradients(y, x);
    const session s;
    s.run(v.initializer());
    CHECK(s.run(std::tuple(y, d), feed(x, 2.)) == std::tuple(48., 72.));
    CHECK(s.run(v) == 4.);
}

TEST_CASE(
    "region_gradient: second gradients where a branch that is not taken, and sizes its values by data, keeps some") {
    const graph_scope here{graph()};
    const placeholder<bool> p("p");
    const placeholder<double> x("x");
    const placeholder<double, 13, 13> fixed("fixed"); // more elements than a constant of zeros is made of
    const placeholder<double, dyn, dyn> open("open");
    const auto rows = [](const auto& v, const auto& m) { // the sum of squares of all rows of v m m
        const tensor product = matmul(sealed(v * m), m);
        return reduce_sum(square(boolean_mask(product, sealed(reduce_sum<1>(product) > 0.))));
    };
    const auto either = [&](const auto& m) {
        return [&](auto v) { return cond(p, [&] { return rows(v, m); }, [&] { return v * v * v; }); };
    };
    const auto nested = [&](const auto& m) {
        return [&](auto v) { return cond(v > 0., [&] { return either(m)(v); }, [&] { return v * 1.; }); };
    };
    const auto numbered = [&](auto v) {
        return switch_case(cast<int>(p), [&] { return v * v * v; }, [&] { return rows(v, open); }, [&] { return v; });
    };
    const std::vector<tensor<double>> of_fixed{either(fixed)(x), function(either(fixed))(x),
                                               recompute(nested(fixed))(x)};
    const std::vector<tensor<double>> of_open{
        either(open)(x), function(either(open))(x), recompute(nested(open))(x), function(nested(open))(x),
        numbered(x),     function(numbered)(x)};
    const session s;
    const auto check = [&](const tensor<double>& y, double factor) {
        const auto [d] = gradients(y, x);
        const auto [dd] = gradients(d, x);
        const auto [ddd] = gradients(dd, x);
        for (const bool first : {true, false, true}) {
            INFO(y.node()->name << (first ? ", the first" : ", the second"));
            const auto found = s.run(std::tuple(y, d, dd, ddd), feed(x, 2.), feed(p, first),
                                     feed(fixed, xt::xtensor<double, 2>(xt::ones<double>({13, 13}))),
                                     feed(open, xt::xtensor<double, 2>(xt::ones<double>({2, 2}))));
            CHECK(found == (first ? std::tuple(4 * factor, 4 * factor, 2 * factor, 0.) : std::tuple(8., 12., 12., 6.)));
        }
    };
    for (const auto& y : of_fixed) check(y, 169. * 169.);
    for (const auto& y : of_open) check(y, 16.);
}

TEST_CASE("region_gradient: a tensor of a body is none outside it") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    tensor<float> inner;
    const auto y = while_loop([](auto i) { return i < 3.f; },
                              [&](auto i) {
                                  inner = i * x;
                                  const auto [within] = gradients(inner, x); // here it is
                                  return within * 0.f + i + 1.f;
                              },
                              0.f);
    CHECK_THROWS_WITH(gradients(y, inner), contains("belongs to the body 'while/body'"));
    CHECK_THROWS_WITH(gradients(inner, x), contains("belongs to the body 'while/body'"));
    CHECK_THROWS_WITH(gradients({any_tensor(y)}, {any_tensor(x)}, {.stop = {any_tensor(inner)}}),
                      contains("belongs to the body 'while/body'"));
}
