// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/region_gradient.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/session.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE(
    "region_gradient: what is elementwise is computed again, what costs more is kept, and nothing that is not needed") {
    const graph_scope here{graph()};
    placeholder<double, 5, 3> xs("xs");
    const variable<double, 3, 3> w("w", ones());
    const auto kept = [](const any_tensor& y) {
        return y.node()->owner->last_twin(y.node())->outputs.size() - y.node()->outputs.size();
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
