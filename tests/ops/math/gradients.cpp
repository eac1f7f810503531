// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/gradients.hpp>

#include <algorithm>
#include <cstddef>

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sin.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tanh.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_gradients {

/// A private graph for a test, and a session on it.
struct place {
    graph g;
    graph_scope here{g};
    session s{g};
};

using op_test::list;
using doubles = std::vector<double>;

} // namespace test_gradients

TEST_CASE("gradients: a chain of 100,000 nodes, without recursion") {
    const test_gradients::place p;
    placeholder<double> x("x");
    tensor<double> y = x;
    for (int i = 0; i < 100'000; ++i) y = tensor<double>(-y);
    const auto [d] = gradients(y, x);
    CHECK(p.g.size() > 200'000);
    CHECK(p.s.run(d, feed(x, 3.0)) == 1);
    CHECK(p.s.run(y, feed(x, 3.0)) == 3);
}

TEST_CASE("gradients: each node is visited once where paths multiply") {
    const test_gradients::place p;
    placeholder<double> x("x");
    tensor<double> y = x;
    for (int i = 0; i < 40; ++i) y = tensor<double>(y + y); // 2^40 paths
    const std::size_t before = p.g.size();
    const auto [d] = gradients(y, x);
    CHECK(p.g.size() - before < 100);
    CHECK(p.s.run(d, feed(x, 1.0)) == 1099511627776.0);
}

TEST_CASE("gradients: several ys, and their gradients given") {
    const test_gradients::place p;
    placeholder<double, dyn> x("x"), seed("seed");
    const tensor y = square(x), z = sin(x);
    const auto [d] = gradients(std::tuple(y, z), x);
    const test_gradients::doubles v{0.5, -1};
    const auto got = p.s.run(d, feed(x, v));
    for (std::size_t i = 0; i < 2; ++i) CHECK(got(i) == Approx(2 * v[i] + std::cos(v[i])));

    const auto weighted = gradients({y, z}, {x}, {.grad_ys = {seed, any_tensor()}, .stop = {}});
    REQUIRE(weighted[0]);
    const auto w = p.s.run(weighted[0], feed(x, v), feed(seed, test_gradients::doubles{10, 100}));
    CHECK(w.elements<double>()[0] == Approx(10 * 2 * v[0] + std::cos(v[0])));
    CHECK(w.elements<double>()[1] == Approx(100 * 2 * v[1] + std::cos(v[1])));

    // the same y twice counts twice
    const auto [twice] = gradients(std::tuple(y, y), x);
    CHECK(test_gradients::list(p.s.run(twice, feed(x, v))) == test_gradients::doubles{2, -4});
}

TEST_CASE("gradients: one y and a list of xs, with options") {
    const graph_scope here{graph()};
    placeholder<float> x("x"), w("w");
    const tensor loss = x * w * w;
    const session s;
    const auto d = gradients(loss, {w, x}, {.colocate = true});
    REQUIRE(d.size() == 2);
    CHECK(s.run(d[0], feed(x, 2.f), feed(w, 3.f)).value<float>() == 12.f);
    CHECK(s.run(d[1], feed(x, 2.f), feed(w, 3.f)).value<float>() == 9.f);
    CHECK(gradients(loss, {x}).size() == 1);
}

TEST_CASE("gradients: stop nodes are taken as constants") {
    const test_gradients::place p;
    placeholder<double> x("x");
    const tensor h = square(x), y = h * x;
    const auto run = [&](const std::vector<any_tensor>& stop, const any_tensor& by) {
        const auto d = gradients({y}, {by}, {.grad_ys = {}, .stop = stop});
        return d[0] ? p.s.run(d[0], feed(x, 3.0)).value<double>() : -1;
    };
    CHECK(run({}, x) == 27);
    CHECK(run({h}, x) == 9);
    CHECK(run({h}, h) == 3);
    CHECK(run({y}, x) == -1);
    CHECK(run({x}, x) == 27);
}

TEST_CASE("gradients: zeros, or nothing, where x does not reach y") {
    const test_gradients::place p;
    placeholder<double, dyn> x("x"), other("other");
    placeholder<int, 3> whole("whole");
    const tensor y = x * 2.0, later = y * 3.0;
    const auto [d, zeros, after, integers] = gradients(y, x, other, later, whole);
    const auto fed = std::vector{feed(x, test_gradients::doubles{1}), feed(other, test_gradients::doubles{1, 2}),
                                 feed(whole, std::vector<int>{1, 2, 3})};
    CHECK(test_gradients::list(p.s.run(d, fed)) == test_gradients::doubles{2});
    CHECK(test_gradients::list(p.s.run(zeros, fed)) == test_gradients::doubles{0, 0});
    CHECK(test_gradients::list(p.s.run(after, fed)) == test_gradients::doubles{0});
    CHECK(test_gradients::list(p.s.run(integers, fed)) == std::vector<int>{0, 0, 0});
    static_assert(std::is_same_v<std::remove_const_t<decltype(integers)>, tensor<int, 3>>);
    const auto loose = gradients(std::vector<any_tensor>{y}, {x, other, later, whole});
    CHECK(bool(loose[0]));
    CHECK_FALSE(loose[1]);
    CHECK_FALSE(loose[2]);
    CHECK_FALSE(loose[3]);
    // y by itself
    const auto [ones] = gradients(y, y);
    CHECK(test_gradients::list(p.s.run(ones, fed)) == test_gradients::doubles{1});
}

TEST_CASE("gradients: uses of one tensor by many nodes are added up") {
    const test_gradients::place p;
    for (const int uses : {1, 2, 3, 24, 25, 60, 700}) {
        placeholder<double, dyn> x("x");
        std::vector<any_tensor> ys;
        double wanted = 0;
        for (int i = 0; i < uses; ++i) {
            ys.push_back(tensor(static_cast<double>(i) * x));
            wanted += i;
        }
        const auto d = gradients(ys, {x});
        REQUIRE(d[0]);
        const auto got = p.s.run(d[0], feed(x, test_gradients::doubles{5, 6}));
        CHECK(got.elements<double>()[0] == wanted);
        CHECK(got.elements<double>()[1] == wanted);
    }
}

TEST_CASE("gradients: one leaf used several times in an expression") {
    const test_gradients::place p;
    placeholder<double, dyn> a("a"), b("b");
    const auto fed = std::vector{feed(a, test_gradients::doubles{2, 3}), feed(b, test_gradients::doubles{5, 7})};
    const auto [cube] = gradients(a * a * a, a);
    CHECK(test_gradients::list(p.s.run(cube, fed)) == test_gradients::doubles{12, 27});
    const auto [da, db] = gradients(a * b * a + b, a, b);
    CHECK(test_gradients::list(p.s.run(da, fed)) == test_gradients::doubles{20, 42});
    CHECK(test_gradients::list(p.s.run(db, fed)) == test_gradients::doubles{5, 10});
    const auto [only_b] = gradients(b * a * b * a, b);
    CHECK(test_gradients::list(p.s.run(only_b, fed)) == test_gradients::doubles{2 * 5 * 4, 2 * 7 * 9});
}

TEST_CASE("gradients: NaN in one leaf's adjoint does not reach another's") {
    const test_gradients::place p;
    placeholder<double, dyn> a("a"), b("b");
    const auto [da, db] = gradients(a * b, a, b); // da = b, db = a
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const auto [va, vb] =
        p.s.run(std::tuple(da, db), feed(a, test_gradients::doubles{nan, inf}), feed(b, test_gradients::doubles{1, 2}));
    CHECK(test_gradients::list(va) == test_gradients::doubles{1, 2});
    CHECK(std::isnan(vb(0)));
    CHECK(vb(1) == inf);
}

TEST_CASE("gradients: shared subexpressions") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x"), y("y");
    const tensor h = tanh(x * y);
    const any_tensor z = tensor(h * h + sin(h) * x);
    op_test::gradient_check{
        s, {x, y}, {op_test::point_array<double>({-1, 1}, {3}), op_test::point_array<double>({-1, 1}, {3}, 1)}}
        .check(z, 3);
}

TEST_CASE("gradients: the mean of a fused expression by leaves that stretch") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, 3> x("x");
    placeholder<double, 3> w("w");
    placeholder<double> b("b");
    placeholder<double, dyn, 1> t("t");
    const auto loss = reduce_mean(square(x * w + b - t));
    const std::vector<any_array> at{
        op_test::point_array<double>({-1, 1}, {4, 3}), op_test::point_array<double>({-1, 1}, {3}, 1),
        op_test::point_array<double>({-1, 1}, {}, 2), op_test::point_array<double>({-1, 1}, {4, 1}, 3)};
    op_test::gradient_check{s, {x, w, b, t}, at}.check(loss, 3);
    op_test::gradient_check{s, {x, w, b, t}, at}.check(
        tensor(reduce_mean<0>(exp(x * w) / square(b + 3.0), keep_dims) * t), 2);

    // over many blocks, against sums made by hand
    const index_t rows = 5000;
    const auto [dx, dw, db, dt] = gradients(loss, x, w, b, t);
    const auto X = op_test::points<double>({-1, 1}, rows * 3), W = op_test::points<double>({-1, 1}, 3, 1),
               T = op_test::points<double>({-1, 1}, rows, 3);
    const double B = 0.25;
    std::vector<double> gw(3), gt(static_cast<std::size_t>(rows));
    double gb = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            const double slope = 2 * (X[3 * i + j] * W[j] + B - T[i]) / static_cast<double>(3 * rows);
            gw[j] += slope * X[3 * i + j];
            gb += slope;
            gt[i] -= slope;
        }
    const auto [vw, vb, vt] = s.run(std::tuple(dw, db, dt), feed(x, X), feed(w, W), feed(b, B), feed(t, T));
    CHECK(op_test::far_apart({vw.begin(), vw.end()}, gw, 1e-12) == "");
    CHECK(op_test::far_apart({vt.begin(), vt.end()}, gt, 1e-12) == "");
    CHECK(vb == Approx(gb));
}

namespace test_gradients {

/// Selects nested N deep: 2 N + 2 leaves.
template <int N, class C, class X> auto nest(const C& p, const C& q, const X& a, const X& b) {
    if constexpr (N == 0)
        return a * b;
    else if constexpr (N % 3 == 0)
        return select(p, b, nest<N - 1>(p, q, a, b));
    else
        return select(N % 2 ? p : q, nest<N - 1>(p, q, a, b), N % 5 ? a : b);
}

} // namespace test_gradients

TEST_CASE("gradients: more leaves than a mask has bits") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> a("a"), b("b");
    const tensor p = a > 1.5, q = b > 1.5;
    const any_tensor y = sealed(test_gradients::nest<20>(p, q, a, b));
    const auto one = [](const std::vector<double>& v) { return op_test::make_array<double>({4}, v); };
    op_test::gradient_check{s, {a, b}, {one({1, 2, 1, 2}), one({1.2, 1.3, 1.8, 1.9})}}.check(y, 2);
}

TEST_CASE("gradients: of nothing") {
    const test_gradients::place p;
    placeholder<double, dyn, 3> x("x");
    placeholder<double, 3> w("w");
    const auto [dx, dw] = gradients(reduce_sum(x * w), x, w);
    const auto [vx, vw] = p.s.run(std::tuple(dx, dw), feed(x, xt::xtensor<double, 2>(std::array<std::size_t, 2>{0, 3})),
                                  feed(w, test_gradients::doubles{1, 2, 3}));
    CHECK(vx.size() == 0);
    CHECK(test_gradients::list(vw) == test_gradients::doubles{0, 0, 0});
}

TEST_CASE("gradients: beside the nodes that they are the gradients of") {
    const test_gradients::place p;
    placeholder<double, dyn> x("x");
    const tensor y(exp(x) * 2.0, "y");
    const tensor loss(reduce_sum(y * sin(x)), "loss");
    for (const bool beside : {false, true}) {
        const auto before = p.g.nodes().size();
        const auto d = gradients(std::vector<any_tensor>{loss}, {x}, {.colocate = beside});
        const auto nodes = p.g.nodes();
        REQUIRE(nodes.size() > before);
        for (auto i = before; i < nodes.size(); ++i) {
            const node* const with = nodes[i]->colocated;
            CHECK((with != nullptr) == beside);
            if (with)
                CHECK(std::ranges::find(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(before), with) !=
                      nodes.begin() + static_cast<std::ptrdiff_t>(before));
        }
        CHECK(p.s.run(d[0], feed(x, std::vector<double>{0})).elements<double>()[0] == 2);
    }
}

TEST_CASE("gradients: refusals") {
    const test_gradients::place p;
    placeholder<double, dyn> x("x");
    placeholder<double, 3> three("three");
    const auto whole = any_placeholder("whole", dtype::int32, {3});
    const tensor y = square(x);
    CHECK_THROWS_AS(gradients(std::vector<any_tensor>{whole}, {x}), invalid_argument);
    CHECK_THROWS_WITH(gradients(std::vector<any_tensor>{whole}, {x}),
                      contains("whole:0") && contains("only floating and complex"));
    CHECK_THROWS_WITH(gradients(std::vector<any_tensor>{}, {x}), contains("no ys"));
    CHECK_THROWS_WITH(gradients({y}, {x}, {.grad_ys = {y, y}, .stop = {}}), contains("1 ys and 2 grad_ys"));
    const tensor z = square(three);
    CHECK_THROWS_WITH(gradients({z}, {three}, {.grad_ys = {any_placeholder("four", dtype::float64, {4})}, .stop = {}}),
                      contains("four:0") && contains("[4]") && contains("[3]"));
    CHECK_THROWS_WITH(
        gradients({z}, {three}, {.grad_ys = {any_placeholder("floats", dtype::float32, {3})}, .stop = {}}),
        contains("floats:0") && contains("float32"));
    CHECK_THROWS_AS(gradients(std::vector<any_tensor>{y}, {any_tensor()}), failed_precondition);
    CHECK_THROWS_AS(gradients(std::vector<any_tensor>{any_tensor()}, {x}), failed_precondition);
    const graph other;
    const any_tensor foreign = [&] {
        const graph_scope there(other);
        return any_tensor(placeholder<double>("foreign"));
    }();
    CHECK_THROWS_WITH(gradients({y}, {foreign}), contains("foreign:0") && contains("another graph"));
    CHECK_THROWS_AS(gradients({y, foreign}, {x}), invalid_argument);
}

TEST_CASE("gradients: of tensors of unknown type, listed one by one") {
    const test_gradients::place p;
    placeholder<double> x("x");
    const any_tensor a = x, b = any_placeholder("b", dtype::float64, {}), unconnected = placeholder<double>("c");
    const any_tensor y = a * a * b;
    using tensors = std::vector<any_tensor>;
    const auto d = gradients(y, a, b, unconnected);
    STATIC_REQUIRE(std::is_same_v<decltype(d), const tensors>);
    REQUIRE(d.size() == 3);
    CHECK_FALSE(d[2]);
    const auto value = [&](const any_tensor& t) {
        return p.s.run(t, feed(x, 3.0), feed(b, 5.0)).template elements<double>()[0];
    };
    CHECK(value(d[0]) == 30);
    CHECK(value(d[1]) == 9);
    // one operand of unknown type is enough; an expression may be differentiated, several ys are added up
    STATIC_REQUIRE(std::is_same_v<decltype(gradients(x * x, a)), tensors>);
    CHECK(value(gradients(x * x, a)[0]) == 6);
    CHECK(value(gradients(y, x)[0]) == 30);
    CHECK(value(gradients(std::tuple(y, x * 2.0), x)[0]) == 32);
    CHECK(value(gradients(std::tuple(x, x * x), a)[0]) == 7);
    STATIC_REQUIRE(std::is_same_v<decltype(gradients(x * x, x)), std::tuple<tensor<double>>>);
}
