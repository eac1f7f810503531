// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/loops/scalar_while_kernel.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/runtime/control_flow/bound_region.hpp>
#include <rill/runtime/control_flow/region_kernels.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "runtime/loop_node.hpp"

using namespace rill;

namespace test_runtime_scalar_while_kernel {

/// Whether a node of complete types is bound as one kernel.
bool is_one_kernel(const any_tensor& loop) {
    const auto [it, inputs] = loop_node(loop);
    const auto outputs = loop.node()->outputs;
    return with_bound_bodies(loop, [&](const auto& bodies) {
        return detail::bind_scalar_loop(*it.op->regions(), {bodies.data(), bodies.size()}, inputs,
                                        {outputs.begin(), outputs.end()}, default_allocator()) != nullptr;
    });
}

/// The same loop with a part that is an array, whose steps run one by one.
template <class Body> auto by_steps(const Body& body, int n, const tensor<float>& first) {
    return std::get<1>(while_loop([n](auto i, auto, auto) { return i < n; },
                                  [&](auto i, auto v, auto z) { return std::tuple(i + 1, body(i, v), z * 2.f); }, 0,
                                  first, zeros<float, 2>()));
}
template <class Body> auto at_once(const Body& body, int n, const tensor<float>& first) {
    return std::get<1>(while_loop([n](auto i, auto) { return i < n; },
                                  [&](auto i, auto v) { return std::tuple(i + 1, body(i, v)); }, 0, first));
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof(float)) == 0; }

TEST_CASE("scalar_while_kernel: the same as single steps to the last bit, gradients of three orders too") {
    const graph_scope here{graph()};
    placeholder<float> x("x"), first("first");
    const auto body = [&](const auto& i, const auto& v) {
        const tensor named(v * x, "named"); // no loop of one function
        return tensor(sin(named) + 0.01f * cast<float>(i) - tanh(named * first));
    };
    const session s;
    for (const int n : {0, 1, 2, 7, 200}) {
        tensor<float> once(at_once(body, n, first)), steps(by_steps(body, n, first));
        CHECK(is_one_kernel(once));
        CHECK_FALSE(is_one_kernel(steps));
        for (int order = 0; order < 4; ++order) {
            CAPTURE(n, order);
            const auto [a, b] = s.run(std::tuple(once, steps), feed(x, 0.9f), feed(first, 0.4f));
            CHECK(same_bits(a, b));
            once = std::get<0>(gradients(once, x));
            steps = std::get<0>(gradients(steps, x));
        }
    }
}

TEST_CASE("scalar_while_kernel: gradients against finite differences") {
    const graph_scope here{graph()};
    placeholder<double> x("x"), start("start");
    const auto [k, y] = while_loop(
        [](auto i, auto) { return i < 6; },
        [&](auto i, auto v) { return std::tuple(i + 1, sin(v * x) + 0.1 * exp(-v) * cast<double>(i)); }, 0, start);
    std::vector<tensor<double>> orders{y};
    for (int i = 0; i < 3; ++i) orders.push_back(std::get<0>(gradients(orders.back(), x)));
    const session s;
    const auto at = [&](std::size_t order, double value) {
        return s.run(orders[order], feed(x, value), feed(start, 0.3));
    };
    const double h = 1e-5;
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(at(i + 1, 1.1) == Approx((at(i, 1.1 + h) - at(i, 1.1 - h)) / (2 * h)).epsilon(1e-6));
}

TEST_CASE("scalar_while_kernel: parts that stay, change places, are the same value, or a constant") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto seven = constant(7.f);
    const auto [i, a, b, c, d, e, f] =
        while_loop([](tensor<int> k, tensor<float>, tensor<float>, tensor<float>, tensor<float>, tensor<float>,
                      tensor<float>) { return k < 3; },
                   [&](tensor<int> k, tensor<float> p, tensor<float> q, tensor<float> r, tensor<float>, tensor<float> u,
                       tensor<float>) {
                       const tensor<float> next(u + x, "next");
                       return std::tuple(tensor<int>(k + 1), q, p, r, tensor<float>(seven), next, next);
                   },
                   0, constant(1.f), constant(2.f), x, x, constant(0.f), x);
    CHECK(is_one_kernel(a));
    const session s;
    CHECK(s.run(std::tuple(i, a, b, c, d, e, f), feed(x, 5.f)) == std::tuple(3, 2.f, 1.f, 5.f, 7.f, 15.f, 15.f));
    // a condition that is a part of the state
    const auto [go, n] = while_loop([](tensor<bool> g, tensor<int>) { return g; },
                                    [](tensor<bool>, tensor<int> k) {
                                        const tensor<int> next(k + 1, "next");
                                        return std::tuple(tensor<bool>(next < 9), next);
                                    },
                                    true, 0);
    CHECK(is_one_kernel(n));
    CHECK(s.run(std::tuple(go, n)) == std::tuple(false, 9));
}

TEST_CASE("scalar_while_kernel: scans over numbers, both ways, with what they stack") {
    const graph_scope here{graph()};
    placeholder<float, dyn> xs("xs");
    placeholder<float> x("x");
    const auto body = [&](auto s, auto e) { return sin(s * x) + e; };
    const session s;
    const auto states = scan(body, x, xs), back = scan(body, x, xs, {.reverse = true});
    const auto doubled = map([](auto e) { return e * 2.f; }, xs);
    const auto same = map([&](auto) { return tensor(x * 1.f, "same"); }, xs);
    const auto last = fold(body, x, xs), right = fold_right(body, x, xs);
    const auto [dxs, dx] = gradients(last, xs, x);
    for (const std::size_t n : {0u, 1u, 2u, 5u, 100u}) {
        std::vector<float> in(n);
        for (std::size_t i = 0; i < n; ++i) in[i] = 0.1f * static_cast<float>(i);
        const auto [sv, bv, dv, mv, lv, rv, gv, hv] =
            s.run(std::tuple(states, back, doubled, same, last, right, dxs, dx), feed(xs, in), feed(x, 0.8f));
        REQUIRE(sv.size() == n);
        float v = 0.8f, w = 0.8f;
        for (std::size_t i = 0; i < n; ++i) {
            v = std::sin(v * 0.8f) + in[i];
            w = std::sin(w * 0.8f) + in[n - 1 - i];
            CHECK(sv(i) == Approx(v).epsilon(1e-5));
            CHECK(bv(n - 1 - i) == Approx(w).epsilon(1e-5));
            CHECK(dv(i) == 2 * in[i]);
            CHECK(mv(i) == 0.8f);
        }
        CHECK(lv == Approx(v).epsilon(1e-5));
        CHECK(rv == Approx(w).epsilon(1e-5));
        REQUIRE(gv.size() == n);
        if (n > 0) CHECK(gv(n - 1) == 1.f);
        if (n == 0) CHECK(hv == 1.f);
    }
    placeholder<float, 4> four("four");
    CHECK(is_one_kernel(map([](auto e) { return exp(e) + 1.f; }, four)));
    CHECK_FALSE(is_one_kernel(map([](auto e) { return e + ones<float, 2>(); }, four)));
}

TEST_CASE("scalar_while_kernel: limits of iterations, and histories of any length") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    placeholder<int> n("n");
    const session s;
    for (const std::int64_t most : {0, 1, 64, 65, 300}) {
        const auto [i, y] =
            while_loop([&](auto k, auto) { return k < n; },
                       [&](auto k, auto v) { return std::tuple(k + 1, tensor(v * x, "product") * 1.f); },
                       std::tuple(0, 1.f), {.maximum_iterations = most});
        CHECK(is_one_kernel(y));
        const auto [slope] = gradients(y, x);
        for (const int asked : {0, 1, 63, 64, 65, 129, 1000}) {
            const auto ran = std::min<std::int64_t>(asked, most);
            const auto [iv, yv, dv] = s.run(std::tuple(i, y, slope), feed(x, 1.f), feed(n, asked));
            CHECK(iv == ran);
            CHECK(yv == 1.f);
            CHECK(dv == static_cast<float>(ran));
        }
    }
}

TEST_CASE("scalar_while_kernel: it looks in each iteration whether it is to end, and says where it was") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto endless =
        while_loop([](auto v) { return v >= 0.f; }, [&](auto v) { return tensor(v * x, "product") + x - x; }, 1.f);
    CHECK(is_one_kernel(endless));
    const session s;
    CHECK_THROWS_AS(s.run(endless, feed(x, 1.f), {.timeout = std::chrono::milliseconds(5)}), deadline_exceeded);
    CHECK_THROWS_WITH(s.run(endless, feed(x, 1.f), {.timeout = std::chrono::milliseconds(5)}),
                      contains("in iteration ") && contains("while"));
    cancellation_token token;
    token.cancel();
    CHECK_THROWS_AS(s.run(endless, feed(x, 1.f), {.cancel = token}), cancelled);
    CHECK(s.run(endless, feed(x, -1.f)) == -1.f); // the session goes on
}

TEST_CASE("scalar_while_kernel: loops that may fail, write, draw or hold arrays run step by step") {
    const graph_scope here{graph()};
    const session s;
    const auto divides =
        while_loop([](auto i) { return i < 100; }, [](auto i) { return tensor(i + 10 / (3 - i), "quotient"); }, 0);
    CHECK_FALSE(is_one_kernel(divides));
    CHECK_THROWS_WITH(s.run(divides), contains("in iteration ") && contains("division by zero"));
    const variable<float> w("w", 0.f);
    const auto writes = while_loop([](auto v) { return v < 3.f; },
                                   [&](auto v) {
                                       w.assign_add(v);
                                       return v + 1.f;
                                   },
                                   0.f);
    s.run(w.initializer());
    CHECK(s.run(writes) == 3.f);
    CHECK(s.run(w) == 3.f);
    const auto draws =
        while_loop([](auto v) { return v < 1.f; }, [](auto v) { return v + random_uniform<float>() + 0.01f; }, 0.f);
    CHECK(s.run(draws) >= 1.f);
    // a loop within a loop: the inner one is a kernel
    const auto [i, sum] = while_loop([](auto k, auto) { return k < 3; },
                                     [](auto k, auto t) {
                                         const auto inner =
                                             while_loop([](auto v) { return v < 4.f; },
                                                        [](auto v) { return tensor(v + 1.f, "up"); }, cast<float>(k));
                                         return std::tuple(k + 1, t + inner);
                                     },
                                     0, 0.f);
    CHECK(s.run(sum) == 12.f);
}

TEST_CASE("scalar_while_kernel: element types side by side, and numbers of some rank") {
    const graph_scope here{graph()};
    const session s;
    const auto [i, d, c, h] = while_loop(
        [](tensor<std::int8_t> k, tensor<double>, tensor<std::complex<double>, 1>, tensor<std::int64_t>) {
            return k < std::int8_t(5);
        },
        [](tensor<std::int8_t> k, tensor<double> v, tensor<std::complex<double>, 1> z, tensor<std::int64_t> m) {
            const tensor<double> next(v + cast<double>(k), "next");
            return std::tuple(tensor<std::int8_t>(k + std::int8_t(1)), next, tensor<std::complex<double>, 1>(z * z),
                              tensor<std::int64_t>(m + cast<std::int64_t>(next)));
        },
        std::int8_t(0), 0.5, constant({std::complex<double>(0, 1)}), std::int64_t(0));
    CHECK(is_one_kernel(d));
    const auto [iv, dv, cv, hv] = s.run(std::tuple(i, d, c, h));
    CHECK(iv == 5);
    CHECK(dv == 10.5);
    CHECK(cv(0) == std::complex<double>(1, 0));
    CHECK(hv == 0 + 1 + 3 + 6 + 10);
}

TEST_CASE("scalar_while_kernel: concurrent runs are their own") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto [k, y] = while_loop([](auto i, auto) { return i < 200; },
                                   [&](auto i, auto v) { return std::tuple(i + 1, tensor(v * 1.f, "v") + x); }, 0, 0.f);
    const auto [slope] = gradients(square(y), x);
    const session s;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 1; t <= 4; ++t)
        threads.emplace_back([&, t] {
            const auto value = static_cast<float>(t);
            for (int i = 0; i < 50; ++i)
                wrong += s.run(std::tuple(y, slope), feed(x, value)) != std::tuple(200.f * value, 80000.f * value);
        });
    for (auto& t : threads) t.join();
    CHECK(wrong == 0);
}

} // namespace test_runtime_scalar_while_kernel
