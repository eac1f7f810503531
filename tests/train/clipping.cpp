// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/clipping.hpp>

#include <limits>

#include <rill/eager/evaluate.hpp>
#include <rill/train/adagrad.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>

#include "ops/harness.hpp"
#include "train/harness.hpp"

using namespace rill;

namespace test_clipping {

using train_test::part;

const std::vector<double> g0 = part<double>(vectors::gradients, 0, 12), g1 = part<double>(vectors::gradients, 12, 12);

any_tensor matrix(const std::vector<double>& values) { return constant(op_test::make_array<double>({4, 3}, values)); }

void near(const any_array& got, const std::vector<double>& wanted) {
    CHECK(op_test::far_apart(op_test::reals(got), wanted, 1e-14) == "");
}

} // namespace test_clipping

TEST_CASE("clipping: by value is clip") {
    const graph g;
    const graph_scope here(g);
    const tensor x = constant({-2.f, 0.5f, 3.f});
    const auto y = evaluate(clip_by_value(x, -1.f, 1.f));
    CHECK(op_test::list(y) == std::vector<float>{-1, 0.5f, 1});
}

TEST_CASE("clipping: by norm, of all and along axes, the types known or not, and its gradient") {
    using namespace test_clipping;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, dyn, 3> x("x");
    const any_tensor loose = any_placeholder("loose", dtype::float64);
    const tensor<double, dyn, 3> all = clip_by_norm(x, 1.5), rows = clip_by_norm<1>(x, 1.5);
    const auto at = op_test::make_array<double>({4, 3}, g0);
    near(op_test::run(s, all, {x}, {at}), vectors::clipped_by_norm);
    near(op_test::run(s, rows, {x}, {at}), vectors::clipped_rows);
    near(op_test::run(s, clip_by_norm(loose, 1.5), {loose}, {at}), vectors::clipped_by_norm);
    near(op_test::run(s, clip_by_norm<1>(loose, constant(1.5)), {loose}, {at}), vectors::clipped_rows);
    near(op_test::run(s, clip_by_norm(loose, 1.5, {1}), {loose}, {at}), vectors::clipped_rows);
    near(op_test::run(s, clip_by_norm(x, 1.5, {-1}), {x}, {at}), vectors::clipped_rows);
    near(op_test::run(s, clip_by_norm(x, 100), {x}, {at}), g0); // short enough
    op_test::gradient_check{s, {x}, {at}}.check(all, 1);
    op_test::gradient_check{s, {x}, {at}}.check(rows, 1);
    const auto zeros = op_test::make_array<double>({1, 3}, {0, 0, 0});
    near(op_test::run(s, all, {x}, {zeros}), {0, 0, 0});
    const auto [slope] = gradients(reduce_sum(all), x);
    near(op_test::run(s, slope, {x}, {zeros}), {1, 1, 1});
}

TEST_CASE("clipping: by the norm of all tensors") {
    using namespace test_clipping;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const std::vector<any_tensor> both{matrix(g0), {}, matrix(g1)};
    CHECK(s.run(global_norm(both)).value<double>() == Approx(vectors::global_norm[0]).epsilon(1e-14));
    const auto [clipped, norm] = clip_by_global_norm(both, 1.5);
    CHECK(s.run(norm).value<double>() == Approx(vectors::global_norm[0]).epsilon(1e-14));
    REQUIRE(clipped.size() == 3);
    CHECK_FALSE(clipped[1]);
    near(s.run(clipped[0]), part<double>(vectors::clipped_by_global_norm, 0, 12));
    near(s.run(clipped[2]), part<double>(vectors::clipped_by_global_norm, 12, 12));
    near(s.run(clip_by_global_norm(both, 1000.).tensors[0]), g0);
    auto twice = g0;
    for (double& v : twice) v *= 0.5;
    near(s.run(clip_by_global_norm(both, 2., constant(4.)).tensors[0]), twice); // the norm was given
    const std::vector<any_tensor> endless{constant({1., std::numeric_limits<double>::infinity()})};
    for (const double v : op_test::reals(s.run(clip_by_global_norm(endless, 1.).tensors[0]))) CHECK(std::isnan(v));
    CHECK_THROWS_AS(global_norm(std::vector<any_tensor>{}), invalid_argument);
    CHECK_THROWS_WITH(global_norm(std::vector<any_tensor>{{}}), contains("global_norm: no tensors"));
}

TEST_CASE("clipping: norms whose squares leave the range, infinite bounds, and zeros to 0") {
    using namespace test_clipping;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const float inf = std::numeric_limits<float>::infinity();
    placeholder<float, dyn> x("x");
    const auto check = [&](const std::vector<float>& at, float bound, const std::vector<double>& wanted) {
        INFO(at[0] << " " << bound);
        const std::vector<any_tensor> both{x, any_tensor(x * 0.f)};
        const auto by_norm = clip_by_norm(x, bound);
        const any_tensor loose = clip_by_norm(any_tensor(x), bound, {0});
        const any_tensor all = clip_by_global_norm(both, bound).tensors[0];
        for (const any_tensor& y : {any_tensor(by_norm), loose, all}) {
            const auto got = op_test::reals(s.run(y, feed(x, at)));
            for (std::size_t i = 0; i < at.size(); ++i) CHECK(got[i] == Approx(wanted[i]));
            for (const double v : op_test::reals(s.run(gradients(y, x)[0], feed(x, at)))) CHECK(std::isfinite(v));
        }
    };
    check({1e20f, 1, 1}, 5, {5, 5e-20, 5e-20});
    check({3e30f, 4e30f, 0}, 5, {3, 4, 0});
    check({3e-30f, 4e-30f, 0}, 5e-30f, {3e-30, 4e-30, 0});
    check({3, 4, 0}, inf, {3, 4, 0});
    check({0, 0, 0}, 0, {0, 0, 0});
    check({0, 0, 0}, inf, {0, 0, 0});
    check({3, 4, 0}, 0, {0, 0, 0});
    placeholder<half, dyn> h("h");
    const auto halves = s.run(clip_by_norm(h, 5.f), feed(h, std::vector<half>(3, half(60000))));
    CHECK(static_cast<float>(halves(0)) ==
          Approx(5 / std::sqrt(3.)).epsilon(1e-3)); // a half could not hold the sum of squares
}

TEST_CASE("clipping: the gradient of a clipped gradient, at norms from 1 to 10^8") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, 2> x("x");
    // y = c x / |x|, so d(y0 + y1) / dx0 = c (1 / |x| - x0 (x0 + x1) / |x|^3): at (3 m, 4 m) it is .032 c / m
    const std::vector<any_tensor> clipped{clip_by_global_norm({x}, 0.5f).tensors[0], clip_by_norm(x, 0.5f)};
    for (const auto& y : clipped) {
        const auto slope = gradients(y, x)[0];
        for (float m = 0.25f; m < 1e8f; m *= 8) {
            INFO(m);
            const auto got = op_test::reals(s.run(slope, feed(x, std::vector<float>{3 * m, 4 * m})));
            CHECK(got[0] == Approx(0.016 / static_cast<double>(m)).epsilon(1e-4));
            CHECK(got[1] == Approx(-0.012 / static_cast<double>(m)).epsilon(1e-4));
        }
    }
}

TEST_CASE("clipping: gradients and their variables, applied") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 2> a("a", {3.f, 0.f});
    const variable<float> b("b", 4.f);
    variable<int> step("step", 0, {.trainable = false});
    const gradient_descent descent(1.f);
    const auto [clipped, norm] =
        clip_by_global_norm(descent.compute_gradients(0.5f * reduce_sum(square(a)) + 0.5f * square(b)), 1.f);
    REQUIRE(clipped.size() == 2);
    CHECK(clipped[0].variable.node() == a.node());
    const operation train = descent.apply_gradients(clipped, step);
    session s;
    s.run(global_variables_initializer());
    CHECK(s.run(norm).value<float>() == Approx(5));
    s.run(train);
    CHECK(s.run(a)(0) == Approx(3 - 0.6));
    CHECK(s.run(b) == Approx(4 - 0.8));
    CHECK(s.run(step) == 1);
}

TEST_CASE("clipping: rows stay rows, their norm that of the slices") {
    const graph g;
    const graph_scope here(g);
    const variable<double, 5, 2> table("table", ones());
    const tensor ids = constant({1, 3, 1});
    const adagrad by({.learning_rate = 1, .initial_accumulator_value = 1});
    const auto pairs = by.compute_gradients(reduce_sum(gather(table, ids)));
    const auto [clipped, norm] = clip_by_global_norm(pairs, 1.);
    const operation train = by.apply_gradients(clipped);
    session s;
    s.run(global_variables_initializer());
    CHECK(s.run(norm).value<double>() == Approx(std::sqrt(6.)));
    const auto trace = s.run_traced(train);
    bool by_rows = false;
    for (const auto& e : trace.entries) {
        CHECK(e.op != "GatherGrad");
        by_rows |= e.op == "ApplyAdagradRows";
    }
    CHECK(by_rows);
    const double twice = 2 / std::sqrt(6.), once = 1 / std::sqrt(6.);
    CHECK(s.run(table)(1, 0) == Approx(1 - twice / std::sqrt(1 + twice * twice)));
    CHECK(s.run(table)(3, 1) == Approx(1 - once / std::sqrt(1 + once * once)));
    CHECK(s.run(table)(0, 0) == 1);
}
