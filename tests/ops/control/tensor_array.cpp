// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/tensor_array.hpp>

#include <cmath>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_control_tensor_array {

static_assert(element_fits<tensor<float, 3>, tensor<float, dyn>>);
static_assert(!element_fits<tensor<float, 3>, tensor<float>>);
static_assert(!element_fits<tensor<float, 3>, tensor<int, 3>>);

TEST_CASE("tensor_array: write, read, stack, gather, scatter, size") {
    const graph_scope here{graph()};
    placeholder<int> i("i");
    const tensor_array<float, 2> a(3);
    const auto b = a.write(1, constant({1.f, 2.f})).write(i, constant({3.f, 4.f}));
    const session s;
    const auto all = s.run(b.stack(), feed(i, 2));
    CHECK(all(0, 0) == 0.f);
    CHECK(all(1, 1) == 2.f);
    CHECK(all(2, 0) == 3.f);
    CHECK(s.run(a)(1, 1) == 0.f); // writing changes no array
    CHECK(s.run(b.read(i), feed(i, 1))(0) == 3.f);
    static_assert(std::is_same_v<decltype(b.read(i)), tensor<float, 2>>);
    CHECK(s.run(b.size(), feed(i, 0)) == 3);
    CHECK(s.run(b.gather(constant({2, 1})), feed(i, 2))(0, 1) == 4.f);
    const auto c = b.scatter(constant({0, 2}), constant({{5.f, 6.f}, {7.f, 8.f}}));
    CHECK(s.run(tensor(reduce_sum(c)), feed(i, 0)) == 1.f + 2.f + 5.f + 6.f + 7.f + 8.f);

    placeholder<double, dyn> x("x");
    const auto numbers = tensor_array<double>(size(x)).write(0, 2.5); // as many as x has
    const auto slices = tensor_array(x).write(0, 2.5);
    CHECK(s.run(numbers, feed(x, {1., 2.}))(0) == 2.5);
    CHECK(s.run(numbers, feed(x, {1., 2.}))(1) == 0.);
    CHECK(s.run(slices, feed(x, {1., 2.}))(1) == 2.);
    CHECK(s.run(numbers.unstack(x).read(1), feed(x, {1., 2.})) == 2.);
    CHECK(s.run(tensor_array<std::string>(2).write(1, constant("b")).stack())(1) == "b");
    CHECK(s.run(tensor_array<int, 2>(constant(3)).size()) == 3);
    CHECK(tensor_array<int, 2>(3).static_shape() == dims{3, 2});
}

TEST_CASE("tensor_array: a place outside is invalid_argument, with place and size") {
    const graph_scope here{graph()};
    placeholder<int> i("i");
    const tensor_array<float> a(3);
    const session s;
    for (const int bad : {3, -1}) {
        CHECK_THROWS_AS(s.run(a.write(i, 1.f), feed(i, bad)), invalid_argument);
        CHECK_THROWS_AS(s.run(a.read(i), feed(i, bad)), invalid_argument);
    }
    CHECK_THROWS_WITH(s.run(a.write(i, 1.f), feed(i, 7)), contains("index 7") && contains("outside [0, 3)"));
    CHECK_THROWS_WITH(s.run(a.read(i), feed(i, 7)), contains("7") && contains("outside [0, 3)"));
    const any_tensor wrong = constant({1.f, 2.f});
    CHECK_THROWS_WITH(a.write(i, wrong), contains("the updates must be of shape []"));
}

TEST_CASE("tensor_array: as the state of a loop, and as what it takes from outside") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    placeholder<int> n("n");
    const tensor_array in(x);
    const auto [i, squares, sum] = while_loop([&](auto k, auto, auto) { return k < n; },
                                              [&](auto k, auto a, auto t) {
                                                  const auto v = in.read(k);
                                                  return std::tuple(k + 1, a.write(k, v * v), t + a.read(k));
                                              },
                                              constant(0), tensor_array<float>(size(x)).write(0, 9.f), constant(0.f));
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(squares)>, tensor_array<float>>);
    const session s;
    const auto [all, t] = s.run(std::tuple(squares, sum), feed(x, {1.f, 2.f, 3.f}), feed(n, 3));
    CHECK(all(2) == 9.f);
    CHECK(all(0) == 1.f);
    CHECK(t == 9.f); // what is read is what was there before
    CHECK(s.run(squares, feed(x, {1.f, 2.f, 3.f}), feed(n, 0))(0) == 9.f);
    CHECK(s.run(squares, feed(x, {1.f, 2.f, 3.f}), feed(n, 1))(0) == 1.f);
    CHECK_THROWS_WITH(s.run(squares, feed(x, {1.f, 2.f, 3.f}), feed(n, 4)), contains("in iteration 3"));

    // two that change places, and one that is needed as it was
    const auto [k, a, b, c] =
        while_loop([&](auto j, auto, auto, auto) { return j < n; },
                   [](auto j, auto p, auto q, auto) { return std::tuple(j + 1, q.write(j, 1.f), p, p.write(j, 2.f)); },
                   constant(0), tensor_array<float>(3), tensor_array<float>(3), tensor_array<float>(3));
    std::vector<float> p(3), q(3), r(3);
    for (int j = 0; j < 3; ++j) {
        auto np = q, nr = p;
        np[j] = 1, nr[j] = 2;
        q = p, p = np, r = nr;
    }
    const auto [pa, pb, pc] = s.run(std::tuple(a, b, c), feed(n, 3));
    for (int j = 0; j < 3; ++j) {
        CHECK(pa(j) == p[j]);
        CHECK(pb(j) == q[j]);
        CHECK(pc(j) == r[j]);
    }
    const auto chosen = cond(n > 0, [&] { return in.write(0, 7.f); }, [&] { return in; });
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(chosen)>, tensor_array<float>>);
    CHECK(s.run(chosen, feed(n, 1), feed(x, {1.f, 2.f}))(0) == 7.f);
}

TEST_CASE("tensor_array: several writes in an iteration, and reads between and around them") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const std::vector<float> given{1, 2, 3, 5, 8, 13};
    const int n = static_cast<int>(given.size());
    const session s;
    const auto check = [&](const auto& body, const auto& plain) {
        const auto [i, cells] =
            while_loop([&](auto k, auto) { return k < n; },
                       [&](auto k, auto a) { return std::tuple(k + 1, body(a, k)); }, constant(0), tensor_array(x));
        auto wanted = given;
        for (int k = 0; k < n; ++k) plain(wanted, k);
        const auto got = s.run(cells, feed(x, given));
        CHECK(std::vector<float>(got.begin(), got.end()) == wanted);
    };
    const auto turned = [n](const auto& k) { return n - 1 - k; };
    check([&](auto a, auto k) { return a.write(k, a.read(k) + 1.f).write(turned(k), 4.f); },
          [&](auto& a, int k) { ++a[k], a[turned(k)] = 4; });
    check(
        [&](auto a, auto k) { return a.write(k, a.read(turned(k))).write(turned(k), a.read(k)); }, // both as they were
        [&](auto& a, int k) { std::swap(a[k], a[turned(k)]); });
    check(
        [&](auto a, auto k) {
            const auto b = a.write(k, a.read(k) * 2.f);
            return b.write(turned(k), b.read(k) + a.read(0)); // what the first write left, and what was before it
        },
        [&](auto& a, int k) {
            const float first = a[0];
            a[k] *= 2;
            a[turned(k)] = a[k] + first;
        });
    check([&](auto a, auto k) { return cond(equal(mod(k, 2), 0), [&] { return a.write(k, 9.f); }, [&] { return a; }); },
          [&](auto& a, int k) {
              if (k % 2 == 0) a[k] = 9;
          });
    check(
        [&](auto a, auto k) { // each reads what was there when the branch began
            return cond(
                       equal(mod(k, 2), 0),
                       [&] { return a.write(k, a.read(turned(k))).write(turned(k), a.read(k) + 1.f); },
                       [&] { return cond(k > 2, [&] { return a.write(0, a.read(0) + 1.f); }, [&] { return a; }); })
                .write(1, 2.f);
        },
        [&](auto& a, int k) {
            if (k % 2 == 0) {
                const float there = a[turned(k)], own = a[k];
                a[k] = there;
                a[turned(k)] = own + 1;
            } else if (k > 2) {
                ++a[0];
            }
            a[1] = 2;
        });
    check(
        [&](auto a, auto k) { // what a branch got is needed after it
            return cond(k > 1, [&] { return a.write(k, 7.f); }, [&] { return a; }).write(0, a.read(k));
        },
        [&](auto& a, int k) {
            const float was = a[k];
            if (k > 1) a[k] = 7;
            a[0] = was;
        });
    check(
        [&](auto a, auto k) {
            const auto b = a.write(k, 0.f);
            return b.write(turned(k), 1.f).write(k, b.read(turned(k))); // the first is read after the second is made
        },
        [&](auto& a, int k) {
            a[k] = 0;
            const float there = a[turned(k)];
            a[turned(k)] = 1;
            a[k] = there;
        });
}

TEST_CASE("tensor_array: gradients of writes and reads, in loops too") {
    const graph_scope here{graph()};
    placeholder<double, dyn> x("x");
    placeholder<double> v("v");
    const auto a = tensor_array(x).write(1, v * v);
    const auto y = reduce_sum(square(a.stack())) + a.read(0) * a.read(1);
    const auto [dx, dv] = gradients(y, x, v);
    const session s;
    const auto [gx, gv] = s.run(std::tuple(dx, dv), feed(x, {2., 3., 4.}), feed(v, 5.));
    CHECK(gx(0) == 2 * 2. + 25.);
    CHECK(gx(1) == 0.);
    CHECK(gx(2) == 8.);
    CHECK(gv == (2 * 25. + 2.) * 10.);

    // a[k] = sin(v a[k - 1]), then their sum, of which two orders
    const auto [k, states] =
        while_loop([](auto j, auto) { return j < 5; },
                   [&](auto j, auto t) { return std::tuple(j + 1, t.write(j, sin(v * t.read(j - 1)))); }, constant(1),
                   tensor_array<double>(5).write(0, v));
    const auto total = reduce_sum(states);
    const auto [d] = gradients(total, v);
    const auto [d2] = gradients(d, v);
    const auto f = [](double at) {
        double state = at, all = at;
        for (int j = 1; j < 5; ++j) all += state = std::sin(at * state);
        return all;
    };
    const double e = 1e-4, at = 0.7;
    const auto [t0, d0, d20] = s.run(std::tuple(total, d, d2), feed(v, at));
    CHECK(t0 == Approx(f(at)));
    CHECK(d0 == Approx((f(at + e) - f(at - e)) / (2 * e)).epsilon(1e-6));
    CHECK(d20 == Approx((f(at + e) - 2 * f(at) + f(at - e)) / (e * e)).epsilon(1e-5));

    // read from outside, in a loop
    const tensor_array in(x);
    const auto [m, product] =
        while_loop([](auto j, auto) { return j < 3; },
                   [&](auto j, auto t) { return std::tuple(j + 1, t * in.read(j)); }, constant(0), constant(1.));
    const auto [din] = gradients(product, x);
    const auto g = s.run(din, feed(x, {2., 3., 4.}));
    CHECK(g(0) == 12.);
    CHECK(g(1) == 8.);
    CHECK(g(2) == 6.);
}

TEST_CASE("tensor_array: the gradient of a write in a branch of a loop keeps no arrays, and works where they are") {
    const graph g;
    const graph_scope here(g);
    placeholder<double, 2> x("x");
    const auto cells = while_loop(
        [](auto i, auto) { return i < 5; },
        [&](auto i, auto a) {
            return std::tuple(i + 1, cond(i > 1, [&] { return a.write(i, x * cast<double>(i)); }, [&] { return a; }));
        },
        std::tuple(constant(0), tensor_array<double, 2>(5)));
    const auto [d] = gradients(reduce_sum(square(std::get<1>(cells).stack())), x);
    for (const auto* n : g.nodes())
        if (n->op->name() == "While")
            for (const auto& type : n->outputs) CHECK(type.shape.rank < 3); // no stack of arrays
    const auto slope = session().run(d, feed(x, {1., 3.}));
    CHECK(slope(0) == 2 * (4. + 9. + 16.));
    CHECK(slope(1) == 3 * slope(0));
}

} // namespace test_ops_control_tensor_array
