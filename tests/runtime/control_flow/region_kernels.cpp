// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/region_kernels.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("region_kernels: parts of a state that stay, change places, or are the same value") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const session s;
    const auto [k, a, b, c] = while_loop([](auto i, auto, auto, auto) { return i < 4; },
                                         [&](auto i, auto p, auto q, auto r) { return std::tuple(i + 1, q, p, r); }, 0,
                                         x, tensor(x * 2.f), tensor(x * 3.f));
    for (int round = 0; round < 2; ++round) {
        const auto [av, bv, cv] = s.run(std::tuple(a, b, c), feed(x, {1.f, 2.f}));
        CHECK(av(1) == 2.f);
        CHECK(bv(1) == 4.f);
        CHECK(cv(1) == 6.f);
    }
    const auto [n, u, w] = while_loop([](auto i, auto, auto) { return i < 3; },
                                      [&](auto i, auto p, auto) {
                                          const tensor next = p + 1.f;
                                          return std::tuple(i + 1, next, next);
                                      },
                                      0, x, x);
    const auto [uv, wv] = s.run(std::tuple(u, w), feed(x, {1.f, 2.f}));
    CHECK((uv == wv));
    CHECK(uv(0) == 4.f);
    // a constant and a value from outside as results
    const auto [m, e, f] = while_loop([](auto i, auto, auto) { return i < 1; },
                                      [&](auto i, auto, auto) { return std::tuple(i + 1, constant({7.f, 8.f}), x); }, 0,
                                      constant({1.f, 2.f}), tensor(x * 2.f));
    const auto [ev, fv] = s.run(std::tuple(e, f), feed(x, {1.f, 2.f}));
    CHECK(ev(0) == 7.f);
    CHECK(fv(1) == 2.f);
}

TEST_CASE("region_kernels: a loop's writes are there for what comes after it, and others see whole versions") {
    const graph_scope here{graph()};
    const variable<float, 2000> v("v", zeros());
    const auto done = while_loop([](auto i) { return i < 3; },
                                 [&](auto i) {
                                     v.assign_add(ones<float, 2000>());
                                     return i + 1;
                                 },
                                 0);
    const tensor before = reduce_sum(v);
    const control_dependencies after(done);
    const tensor behind(reduce_sum(v * 1.f), "behind");
    const session s;
    s.run(v.initializer());
    CHECK(s.run(std::tuple(before, behind)) == std::tuple(0.f, 6000.f));
    CHECK(s.run(std::tuple(before, done, behind)) == std::tuple(6000.f, 3, 12000.f));
}

TEST_CASE("region_kernels: a variable that has no value") {
    const graph_scope here{graph()};
    placeholder<bool> p("p");
    const variable<float> v("v", 5.f);
    const auto y = cond(p, [&] { return v.assign_add(1.f) * 1.f; }, [] { return 0.f; });
    const auto set = cond(p, [&] { return v.assign(2.f) * 1.f; }, [] { return 0.f; });
    const session s;
    CHECK(s.run(y, feed(p, false)) == 0.f); // it is not asked for
    CHECK_THROWS_WITH(s.run(y, feed(p, true)), contains("variable 'v'") && contains("is uninitialized"));
    CHECK(s.run(set, feed(p, true)) == 2.f);
    CHECK(s.run(y, feed(p, true)) == 3.f);
}

TEST_CASE("region_kernels: the body of a scan over no slices need not fit") {
    const graph_scope here{graph()};
    const placeholder<float, dyn, dyn> m("m");
    const placeholder<float, dyn> xs("xs");
    const tensor initial(constant({{1.f, 2.f}, {3.f, 4.f}}));
    const auto last =
        fold([&](const auto& state, const auto& x) { return state + x * reduce_sum(matmul(m, state)); }, initial, xs);
    const session s;
    const xt::xtensor<float, 2> none = xt::zeros<float>({0, 0}), one = xt::ones<float>({1, 2});
    CHECK((s.run(last, feed(m, none), feed(xs, std::vector<float>{})) == s.run(initial)));
    CHECK_THROWS_AS(s.run(last, feed(m, none), feed(xs, std::vector<float>{1})), invalid_argument);
    CHECK(s.run(last, feed(m, one), feed(xs, std::vector<float>{1}))(0, 0) == 11.f);
}
