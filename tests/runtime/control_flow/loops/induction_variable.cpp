// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/loops/induction_variable.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
#include <rill/train/gradient_descent.hpp>

#include "catch.hpp"
#include "runtime/loop_node.hpp"

using namespace rill;

namespace test_runtime_induction_variable {

/// The part that counts; -1: none.
int counter_of(const any_tensor& loop) {
    const auto found = detail::induction_variable::find(loop_node(loop).item);
    return found ? static_cast<int>(found->part()) : -1;
}
const auto up = [](auto i) { return i + 1; };

TEST_CASE("induction_variable: a loop that trains, as many steps as it is told") {
    const graph_scope here{graph()};
    placeholder<float, 3> x("x"), y("y");
    placeholder<int> n("n");
    const variable<float> in("in", 0.f), outside("outside", 0.f);
    const auto step = [&](const variable<float>& w) {
        return gradient_descent(0.1f).minimize(reduce_mean(square(w * x - y)));
    };
    const auto done = while_loop([&](auto i) { return i < n; },
                                 [&](auto i) {
                                     step(in);
                                     return i + 1;
                                 },
                                 0);
    CHECK(counter_of(done) == 0);
    const auto one = step(outside);
    const session s;
    const auto xs = feed(x, {1.f, 2.f, 3.f}), ys = feed(y, {2.f, 3.f, 5.f});
    for (const int steps : {0, 1, 7}) {
        s.run(global_variables_initializer());
        CHECK(s.run(done, xs, ys, feed(n, steps)) == steps);
        for (int i = 0; i < steps; ++i) s.run(one, xs, ys);
        CHECK(s.run(in) == s.run(outside));
    }
}

TEST_CASE("induction_variable: a loop with a dynamic body has none: its bodies are compiled once, however deep") {
    const graph_scope here{graph()};
    placeholder<float, 2> x("x");
    const auto one_more = [](const xt::xtensor<float, 1>& a) { return xt::xtensor<float, 1>(a + 1.f); };
    const auto [n, y] =
        while_loop([](auto i, auto) { return i < 3; },
                   [&](auto i, auto v) { return std::tuple(i + 1, host_call<float, 2>(one_more, v)); }, 0, x);
    CHECK(counter_of(n) == -1);
    const session s;
    CHECK((s.run(y, feed(x, {1.f, 2.f})) == xt::xtensor<float, 1>{4.f, 5.f}));
}

TEST_CASE("induction_variable: beside arrays, in any place, down and in other numbers") {
    const graph_scope here{graph()};
    const session s;
    placeholder<double> by("by");
    const auto a = constant({1.f, 2.f});
    const auto [down, count] =
        while_loop([](auto, auto i) { return i > 0; },
                   [](auto v, auto i) { return std::tuple(v + cast<float>(i), i - 2); }, a, constant(7));
    CHECK(counter_of(count) == 1);
    const auto [vv, iv] = s.run(std::tuple(down, count)); // 7, 5, 3, 1
    CHECK(iv == -1);
    CHECK((vv == xt::xtensor<float, 1>{17.f, 18.f}));
    const auto [doubled, time] =
        while_loop([](auto, auto t) { return t < 1.; }, [&](auto w, auto t) { return std::tuple(w * 2.f, t + by); }, a,
                   constant(0.));
    CHECK(counter_of(time) == 1);
    CHECK((s.run(doubled, feed(by, 0.25)) == xt::xtensor<float, 1>{16.f, 32.f}));
    CHECK(s.run(time, feed(by, 0.25)) == 1.);
    const auto limited =
        while_loop([](auto, auto i) { return i < 100; }, [](auto v, auto i) { return std::tuple(v + 1.f, i + 1); },
                   std::tuple(a, constant(0)), {.maximum_iterations = 3});
    CHECK(s.run(limited) == std::tuple(xt::xtensor<float, 1>{4.f, 5.f}, 3));
    // nested: the inner one begins anew
    const auto nested = while_loop([](auto, auto i) { return i < 3; },
                                   [](auto v, auto i) {
                                       const auto inner = while_loop(
                                           [](auto, auto j) { return j < 2; },
                                           [](auto u, auto j) { return std::tuple(u + 1.f, j + 1); }, v, constant(0));
                                       return std::tuple(std::get<0>(inner), i + 1);
                                   },
                                   a, constant(0));
    CHECK(counter_of(std::get<1>(nested)) == 1);
    CHECK((s.run(std::get<0>(nested)) == xt::xtensor<float, 1>{7.f, 8.f}));
}

TEST_CASE("induction_variable: gradients see what it was in each iteration") {
    const graph_scope here{graph()};
    placeholder<float, 2> x("x");
    const auto [product, count] =
        while_loop([](auto, auto i) { return i < 4; },
                   [](auto v, auto i) { return std::tuple(v * cast<float>(i), i + 1); }, x, constant(1));
    const session s;
    CHECK(counter_of(count) == 1);
    CHECK((std::get<0>(s.run(gradients(reduce_sum(product), x), feed(x, {1.f, 2.f}))) ==
           xt::xtensor<float, 1>{6.f, 6.f}));
}

TEST_CASE("induction_variable: what is no counter is computed as it was") {
    const graph_scope here{graph()};
    const session s;
    const auto a = constant({1.f, 2.f});
    const variable<int> last("last", 5);
    s.run(last.initializer());
    // a limit that the body moves; two parts; a part that another makes; all are numbers
    const auto moved = while_loop([&](auto i) { return i < last; },
                                  [&](auto i) {
                                      last.assign_sub(constant(1));
                                      return i + 1;
                                  },
                                  0);
    CHECK(counter_of(moved) == -1);
    CHECK(s.run(moved) == 3);
    CHECK(s.run(last) == 2);
    const auto two = while_loop([](auto, auto i, auto j) { return i < j; },
                                [](auto v, auto i, auto j) { return std::tuple(v + 1.f, i + 1, j - 1); }, a,
                                constant(0), constant(4));
    CHECK(counter_of(std::get<1>(two)) == -1);
    CHECK((s.run(std::get<0>(two)) == xt::xtensor<float, 1>{3.f, 4.f}));
    const auto made = while_loop([](auto, auto t) { return t < 10.f; },
                                 [](auto v, auto) { return std::tuple(v * 2.f, reduce_sum(v)); }, a, constant(0.f));
    CHECK(counter_of(std::get<1>(made)) == -1);
    CHECK(s.run(std::get<1>(made)) == 12.f);
    CHECK(counter_of(while_loop([](auto i) { return i < 3; }, up, 0)) == -1);
}

TEST_CASE("induction_variable: errors name the iteration, and nothing hangs") {
    const graph_scope here{graph()};
    placeholder<int, dyn> ids("ids");
    const auto table = constant({1.f, 2.f, 3.f});
    const auto [sum, count] = while_loop([](auto, auto i) { return i >= 0; },
                                         [&](auto v, auto i) { return std::tuple(v + gather(table, ids + i), i + 1); },
                                         constant({0.f, 0.f}), constant(0));
    CHECK(counter_of(count) == 1);
    const session s;
    CHECK_THROWS_WITH(s.run(sum, feed(ids, {0, 1})), contains("in iteration 2"));
    const auto endless = while_loop([](auto, auto i) { return i >= 0; },
                                    [](auto v, auto i) { return std::tuple(v + 1.f, i * 1); }, table, constant(0));
    CHECK_THROWS_AS(s.run(endless, {.timeout = std::chrono::milliseconds(5)}), deadline_exceeded);
}

} // namespace test_runtime_induction_variable
