// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/dynamic_region_kernel.hpp>

#include <chrono>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_runtime_dynamic_region_kernel {

TEST_CASE("dynamic_region_kernel: extents that only data decides, in branches, loops, scans and functions") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    placeholder<bool> p("p");
    const auto positive = function([](auto v) { return boolean_mask(v, v > 0.f); });
    const auto chosen = cond(p, [&] { return positive(x); }, [&] { return x; });
    const session s;
    CHECK((s.run(chosen, feed(p, true), feed(x, {1.f, -1.f})) == xt::xtensor<float, 1>{1.f}));
    CHECK((s.run(chosen, feed(p, false), feed(x, {1.f, -1.f})) == xt::xtensor<float, 1>{1.f, -1.f}));
    // a state that shrinks, where its type leaves the extent open
    const auto [rounds, left] =
        while_loop([](auto, auto v) { return size(v) > 1; },
                   [](auto k, auto v) { return std::tuple(k + 1, boolean_mask(v - 1.f, v > 1.f)); }, 0, x);
    const auto [n, l] = s.run(std::tuple(rounds, left), feed(x, {1.f, 2.f, 3.f, 9.f}));
    CHECK(n == 3);
    CHECK((l == xt::xtensor<float, 1>{6.f}));
    placeholder<float, dyn, dyn> rows("rows");
    const auto counts = map([](auto r) { return size(where(r > 0.f)); }, rows);
    CHECK((s.run(counts, feed(rows, {{1.f, 2.f}, {-1.f, 1.f}, {-1.f, -1.f}})) == xt::xtensor<int, 1>{2, 1, 0}));
    const auto sums =
        scan([](auto h, auto r) { return h + reduce_sum(boolean_mask(r, r > 0.f)); }, 0.f, rows, {.reverse = true});
    CHECK((s.run(sums, feed(rows, {{1.f, 2.f}, {-1.f, 1.f}})) == xt::xtensor<float, 1>{4.f, 1.f}));
}

TEST_CASE("dynamic_region_kernel: a loop without iterations gives a value that later writes do not change") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const variable<float, 2> v("v", std::vector<float>{1.f, 2.f});
    const tensor first(v.assign_add(constant({1.f, 1.f})));
    const auto grown = while_loop([](auto s) { return reduce_sum(s) < 0.f; },
                                  [&](auto s) { return tensor(s + reduce_sum(boolean_mask(x, x > 0.f))); }, first);
    const tensor second(v.assign_add(constant({10.f, 10.f})));
    const session s;
    s.run(global_variables_initializer());
    const auto [kept, written] = s.run(std::tuple(grown, second), feed(x, {1.f, -1.f}));
    CHECK((kept == xt::xtensor<float, 1>{2.f, 3.f}));
    CHECK((written == xt::xtensor<float, 1>{12.f, 13.f}));
}

TEST_CASE("dynamic_region_kernel: gradients through them") {
    const graph_scope here{graph()};
    placeholder<double, dyn> x("x");
    const auto y =
        fold([&](auto h, auto) { return h * 0.5 + reduce_sum(square(boolean_mask(x, x > h))); }, 0., constant({1, 2}));
    const auto [d] = gradients(y, x);
    const auto f = [](double a, double b) {
        double h = 0;
        for (int k = 0; k < 2; ++k) {
            double sum = 0;
            for (const double v : {a, b})
                if (v > h) sum += v * v;
            h = h * 0.5 + sum;
        }
        return h;
    };
    const session s;
    const auto [v, dv] = s.run(std::tuple(y, d), feed(x, {0.1, 0.4}));
    CHECK(v == Approx(f(0.1, 0.4)));
    CHECK(dv(0) == Approx((f(0.1 + 1e-6, 0.4) - f(0.1 - 1e-6, 0.4)) / 2e-6).epsilon(1e-5));
    CHECK(dv(1) == Approx((f(0.1, 0.4 + 1e-6) - f(0.1, 0.4 - 1e-6)) / 2e-6).epsilon(1e-5));
}

TEST_CASE("dynamic_region_kernel: what waits in a body holds up only its step") {
    const graph_scope here{graph()};
    const auto later = [](int i, host_result<int> done) { done(i * i); };
    const auto [k, sum] =
        while_loop([](auto i, auto) { return i < 4; },
                   [&](auto i, auto t) { return std::tuple(i + 1, t + host_call<int>(later, i)); }, 0, 0);
    CHECK(session().run(sum) == 14);
    const auto never = while_loop([](auto i) { return i < 4; },
                                  [&](auto i) { return host_call<int>([](int, host_result<int>) {}, i); }, 0);
    CHECK_THROWS_AS(session().run(never, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
}

TEST_CASE("dynamic_region_kernel: derivatives to third order through branches of a loop, which leave out what the "
          "others keep") {
    const graph_scope here{graph()};
    placeholder<double, 2, 2> x("x");
    placeholder<double, dyn> v("v");
    const auto derivatives = [&](auto sum) {
        const auto y = fold(
            [&](auto h, auto k) {
                const auto one_or_none = [&, k] {
                    const auto m = matmul(x, h);
                    return cond(
                        k > 0,
                        [&] {
                            const auto q = matmul(m, x) * sum();
                            return matmul(q, q) * 0.3;
                        },
                        [&] { return matmul(m, m) + square(sum()); });
                };
                const auto two = [&] {
                    const auto m = matmul(h, x);
                    return matmul(m, m) * 0.1 + sum();
                };
                return cond(k > 1, two, one_or_none);
            },
            x, constant({0, 1, 2, 0, 2}));
        const auto [first] = gradients(reduce_sum(y), x);
        const auto [second] = gradients(reduce_sum(square(first)), x);
        const auto [third] = gradients(reduce_sum(square(second)), v);
        return std::tuple(y, first, second, third);
    };
    const auto is_staged = derivatives([&] { return reduce_sum(boolean_mask(v, v > 0.)); });
    const auto whole = derivatives([&] { return reduce_sum(v); });
    const session s;
    const auto found = s.run(is_staged, feed(x, {{1.1, 0.2}, {-0.3, 1.5}}), feed(v, {0.1, 0.2}));
    const auto expected = s.run(whole, feed(x, {{1.1, 0.2}, {-0.3, 1.5}}), feed(v, {0.1, 0.2}));
    CHECK(xt::allclose(std::get<0>(found), std::get<0>(expected)));
    CHECK(xt::allclose(std::get<1>(found), std::get<1>(expected)));
    CHECK(xt::allclose(std::get<2>(found), std::get<2>(expected)));
    CHECK(xt::allclose(std::get<3>(found), std::get<3>(expected)));
    CHECK(std::abs(std::get<3>(expected)(0)) > 1e-3);
}

TEST_CASE("dynamic_region_kernel: what can't be stacked says so, with the iteration") {
    const graph_scope here{graph()};
    placeholder<float, dyn, dyn> rows("rows");
    const auto ragged = map([](auto r) { return boolean_mask(r, r > 0.f); }, rows);
    CHECK_THROWS_WITH(
        session().run(ragged, feed(rows, {{1.f, 2.f}, {-1.f, 1.f}})),
        contains("scan: values of 'map/body/gather:0' are float32 [2] in iteration 0, float32 [1] in iteration 1: "
                 "they can't be stacked"));
}

TEST_CASE("dynamic_region_kernel: a loop that waits in its body holds up nothing else of the run") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> there({.capacity = 1}), back({.capacity = 1});
    // two loops that need one another in every iteration
    const auto [rounds, total] = while_loop([](auto i, auto) { return i < 10; },
                                            [&](auto i, auto sum) {
                                                const control_dependencies after(there.enqueue(i));
                                                return std::tuple(i + 1, sum + back.dequeue());
                                            },
                                            0, 0);
    const auto n = while_loop([](auto k) { return k < 10; },
                              [&](auto k) {
                                  const control_dependencies after(back.enqueue(there.dequeue() * 2));
                                  return tensor(k + 1, "next");
                              },
                              0);
    const session s;
    const auto [a, b] = s.run(std::tuple(total, n), {.timeout = std::chrono::seconds(20)});
    CHECK(a == 90);
    CHECK(b == 10);
}

} // namespace test_runtime_dynamic_region_kernel
