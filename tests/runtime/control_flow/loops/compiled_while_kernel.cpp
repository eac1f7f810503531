// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/loops/compiled_while_kernel.hpp>

#include <cmath>
#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "runtime/loop_node.hpp"

using namespace rill;

namespace test_runtime_compiled_while_kernel {

/// Whether a node is bound as one function.
bool is_one_function(const any_tensor& loop) {
    const loop_node bound(loop);
    return detail::bind_compiled_loop(bound.item, bound.inputs) != nullptr;
}

TEST_CASE("compiled_while_kernel: a loop over numbers is one function, with what it takes from outside") {
    const graph_scope here{graph()};
    placeholder<double> x("x");
    placeholder<int> n("n");
    const auto [k, y] = while_loop([&](auto i, auto) { return i < n; },
                                   [&](auto i, auto v) { return std::tuple(i + 1, sin(v * x) + 0.5); }, 0, 1.);
    CHECK(is_one_function(y));
    const session s;
    for (const int steps : {0, 1, 5, 5000}) {
        double v = 1;
        for (int i = 0; i < steps; ++i) v = std::sin(v * 1.25) + 0.5;
        const auto [kv, yv] = s.run(std::tuple(k, y), feed(x, 1.25), feed(n, steps));
        CHECK(kv == steps);
        CHECK(yv == Approx(v).epsilon(1e-12));
    }
    // parts that stay, change places, and become a number
    const auto [a, b, c, d] =
        while_loop([](auto i, auto, auto, auto) { return i < 3; },
                   [&](auto i, auto p, auto q, auto) { return std::tuple(i + 1, q, p, 7.f); }, 0, 1.f, 2.f, 3.f);
    CHECK(is_one_function(a));
    CHECK(s.run(std::tuple(a, b, c, d)) == std::tuple(3, 2.f, 1.f, 7.f));
    const auto flags = while_loop([](auto f, auto i) { return logical_and(f, i < 5); },
                                  [](auto, auto i) { return std::tuple(i < 2, i + 1); }, constant(true), constant(0));
    CHECK(is_one_function(std::get<0>(flags)));
    CHECK(s.run(flags) == std::tuple(false, 3));
}

TEST_CASE("compiled_while_kernel: other loops give the same as others do") {
    const graph_scope here{graph()};
    const session s;
    // a named value in the body, an array, a division of integers, a write
    const auto named =
        while_loop([](auto v) { return v < 10.f; }, [](auto v) { return tensor(v * 2.f, "twice") + 1.f; }, 1.f);
    CHECK_FALSE(is_one_function(named));
    CHECK(s.run(named) == 15.f);
    const auto typed =
        while_loop([](tensor<float> v) { return v < 10.f; }, [](tensor<float> v) { return v * 2.f + 1.f; }, 1.f);
    CHECK(s.run(typed) == 15.f);
    const auto divides = while_loop([](auto i) { return i < 100; }, [](auto i) { return i + 10 / (3 - i); }, 0);
    CHECK_FALSE(is_one_function(divides));
    CHECK_THROWS_WITH(s.run(divides), contains("division by zero"));
    const auto arrays =
        while_loop([](auto v) { return reduce_sum(v) < 10.f; }, [](auto v) { return v + 1.f; }, constant({1.f, 2.f}));
    CHECK_FALSE(is_one_function(arrays));
    CHECK(s.run(arrays)(1) == 6.f);
    const variable<float> w("w", 0.f);
    const auto writes = while_loop([](auto v) { return v < 3.f; },
                                   [&](auto v) {
                                       w.assign_add(v);
                                       return v + 1.f;
                                   },
                                   0.f);
    CHECK_FALSE(is_one_function(writes));
    s.run(w.initializer());
    CHECK(s.run(writes) == 3.f);
    CHECK(s.run(w) == 3.f);
}

TEST_CASE("compiled_while_kernel: it ends when it is told to, and concurrent runs are their own") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const session s;
    const auto endless = while_loop([](auto v) { return v >= 0.f; }, [&](auto v) { return v * x; }, 1.f);
    CHECK(is_one_function(endless));
    CHECK_THROWS_AS(s.run(endless, feed(x, 1.f), {.timeout = std::chrono::milliseconds(5)}), deadline_exceeded);
    const auto [k, sum] = while_loop([](auto i, auto) { return i < 1000; },
                                     [&](auto i, auto t) { return std::tuple(i + 1, t + x); }, 0, 0.f);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 1; t <= 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 200; ++i)
                wrong += s.run(sum, feed(x, static_cast<float>(t))) != 1000.f * static_cast<float>(t);
        });
    for (auto& t : threads) t.join();
    CHECK(wrong == 0);
}

} // namespace test_runtime_compiled_while_kernel
