// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/loops/lower_loop.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>
#include <vector>

#include <rill/device/loop_code.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "runtime/loop_node.hpp"

using namespace rill;

namespace test_runtime_lower_loop {

/// Returns the loop over numbers that a node of complete types is lowered to.
std::optional<detail::lowered_loop> lowered(const any_tensor& loop) {
    const auto [it, inputs] = loop_node(loop);
    return with_bound_bodies(loop, [&](const auto& bodies) {
        return detail::lower_loop(*it.op->regions(), {bodies.data(), bodies.size()}, inputs);
    });
}

/// Returns true if a node is lowered to a loop that has a compiled form.
bool is_one_function(const any_tensor& loop) {
    const auto found = lowered(loop);
    return found && find_loop_code(found->loop).run;
}

TEST_CASE("lower_loop: a loop over numbers has a compiled form, with operands from outside") {
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

TEST_CASE("lower_loop: loops without a compiled form have the same results") {
    const graph_scope here{graph()};
    const session s;
    // a named value in the body, an array, a division of integers, a write
    const auto named =
        while_loop([](auto v) { return v < 10.f; }, [](auto v) { return tensor(v * 2.f, "twice") + 1.f; }, 1.f);
    REQUIRE(lowered(named));
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

TEST_CASE("lower_loop: state, slices and invariant scalars are the inputs of one group") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const auto seven = constant(7.);
    const auto [steps, last, other] =
        while_loop([](auto i, auto, auto) { return i < 3; },
                   [&](auto i, auto v, auto) { return std::tuple(i + 1, v * x + 2.f, seven); }, 0, 1.f, 0.);
    const auto made = lowered(last);
    REQUIRE(made);
    const auto& loop = made->loop;
    CHECK(loop.conditional);
    CHECK(loop.slices == 0);
    CHECK(loop.stacked.empty());
    CHECK(loop.condition.member == 0);
    REQUIRE(loop.next.size() == 3);
    CHECK(loop.next[2].member == -1);
    CHECK(loop.inputs == std::vector{dtype::int32, dtype::float32, dtype::float64, dtype::float32, dtype::float64});
    REQUIRE(made->invariants.size() == 2);
    CHECK(made->invariants[0].input == 3); // behind the state
    CHECK(made->invariants[1].input == -1);
    CHECK(made->invariants[1].constant.value<double>() == 7);
    const auto code = find_loop_code(loop);
    REQUIRE(code.run);
    int count = 0;
    float value = 1.f;
    const float by = 3.f;
    double third = 0;
    std::vector<const void*> operands;
    for (const auto& o : code.operands)
        operands.push_back(o.input == 3                        ? &by
                           : o.input == 4                      ? made->invariants[1].constant.data()
                           : o.constant.type == dtype::invalid ? nullptr
                                                               : o.constant.bytes.data());
    void* const state[] = {&count, &value, &third};
    CHECK(code.run({operands.data(), state, nullptr, nullptr, 2}) == 2);
    CHECK(count == 2);
    CHECK(value == (1.f * 3.f + 2.f) * 3.f + 2.f);
    CHECK(third == 7);

    placeholder<float, 4> xs("xs");
    const auto sums = scan([](auto s, auto e) { return s + e; }, x, xs, {.reverse = true});
    const auto slices = lowered(sums);
    REQUIRE(slices);
    CHECK_FALSE(slices->loop.conditional);
    CHECK(slices->loop.reverse);
    CHECK(slices->loop.slices == 1);
    CHECK(slices->loop.stacked.size() == 1);
}

TEST_CASE("lower_loop: an induction variable follows from itself and from invariant scalars") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const auto a = constant({1.f, 2.f});
    const auto loop = while_loop([&](auto, auto i) { return i < n; },
                                 [](auto v, auto i) {
                                     const tensor<int> twice(i * 2, "twice");
                                     return std::tuple(v * 2.f, twice + 1);
                                 },
                                 a, 0);
    const auto made = detail::lower_induction_variable(loop_node(std::get<1>(loop)).item);
    REQUIRE(made);
    CHECK(made->part == 1);
    CHECK(made->of.loop.inputs == std::vector{dtype::int32, dtype::int32});
    CHECK(made->of.loop.group.members.size() == 3);
    REQUIRE(made->of.invariants.size() == 1);
    CHECK(made->of.invariants[0].input == 2);
    const auto both = while_loop([&](auto, auto i, auto) { return i < n; },
                                 [](auto v, auto i, auto k) { return std::tuple(v * 2.f, i + k, k); }, a, 0, 1);
    CHECK_FALSE(detail::lower_induction_variable(loop_node(std::get<1>(both)).item));
}

TEST_CASE("lower_loop: compiled loops end at a deadline, and concurrent runs are separate") {
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

} // namespace test_runtime_lower_loop
