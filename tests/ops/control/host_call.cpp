// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/host_call.hpp>

#include <chrono>
#include <thread>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_control_host_call {

TEST_CASE("host_call: any function as a node") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const auto sorted = host_call<float, dyn>(
        [](xt::xtensor<float, 1> v) {
            std::sort(v.begin(), v.end());
            return v;
        },
        x);
    const auto scaled = host_call<double>([](const xt::xtensor<float, 1>& v, int by) { return double(v(0)) * by; },
                                          sorted * 2.f, constant(3));
    const session s;
    CHECK((s.run(sorted, feed(x, {3.f, 1.f, 2.f})) == xt::xtensor<float, 1>{1.f, 2.f, 3.f}));
    CHECK(s.run(scaled, feed(x, {3.f, 1.f, 2.f})) == 6.);
    // extents of its own choice
    const auto longer =
        host_call<int, dyn>([](int n) { return std::vector<int>(static_cast<std::size_t>(n), 7); }, constant(4));
    CHECK(s.run(reduce_sum(longer)) == 28);
    CHECK_THROWS_AS(gradients(sorted, x), unimplemented);
}

TEST_CASE("host_call: for what it does, in order, in loops and branches") {
    const graph_scope here{graph()};
    std::vector<int> seen;
    const auto note = [&](int i) { seen.push_back(i); };
    const auto done = while_loop([](auto i) { return i < 3; },
                                 [&](auto i) {
                                     host_call(note, i);
                                     return i + 1;
                                 },
                                 0);
    const session s;
    CHECK(s.run(done) == 3);
    CHECK(seen == std::vector{0, 1, 2});
    placeholder<bool> p("p");
    const operation maybe = cond(p, [&] { host_call(note, constant(10)); }, [] {});
    s.run(maybe, feed(p, false));
    s.run(maybe, feed(p, true));
    CHECK(seen == std::vector{0, 1, 2, 10});
    const operation last = host_call(note, constant(20));
    s.run(last);
    CHECK(seen.back() == 20);
}

TEST_CASE("host_call: its errors name the node, a result of another type is refused") {
    const graph_scope here{graph()};
    const session s;
    const auto fails = host_call<float>([](float) -> float { throw std::runtime_error("out of luck"); }, constant(1.f));
    CHECK_THROWS_WITH(s.run(fails * 2.f), contains("host_call: out of luck") && contains("node 'host_call'"));
    const auto wrong = host_call<float, 2>([](float) { return std::vector<float>{1.f, 2.f, 3.f}; }, constant(1.f));
    CHECK_THROWS_AS(s.run(wrong), invalid_argument);
}

TEST_CASE("host_call: a function that brings its result later") {
    const graph_scope here{graph()};
    std::vector<std::thread> workers;
    const auto slow = [&](float x, host_result<float> done) { workers.emplace_back([x, done] { done(x * 10.f); }); };
    const auto a = host_call<float>(slow, constant(1.f)), b = host_call<float>(slow, constant(2.f));
    const tensor sum(a + b, "sum");
    const session s;
    CHECK(s.run(sum) == 30.f);
    CHECK(s.run(std::tuple(a, sum)) == std::tuple(10.f, 30.f));
    const auto fails = host_call<float>(
        [&](float, host_result<float> done) {
            workers.emplace_back([done] { done.fail(std::make_exception_ptr(unavailable("nobody is there"))); });
        },
        constant(1.f));
    CHECK_THROWS_AS(s.run(fails), unavailable);
    CHECK_THROWS_WITH(s.run(fails), contains("nobody is there") && contains("node 'host_call"));
    for (auto& w : workers) w.join();
}

TEST_CASE("host_call: the first result counts") {
    const graph_scope here{graph()};
    std::vector<std::thread> workers;
    const auto twice = host_call<float>(
        [](float x, host_result<float> done) {
            done(x);
            done(x * 2.f);
            done.fail(std::make_exception_ptr(unavailable("too late")));
        },
        constant(1.f));
    const auto other = host_call<float>(
        [&](float x, host_result<float> done) { workers.emplace_back([x, done] { done(x); }); }, constant(10.f));
    const session s;
    CHECK(s.run(std::tuple(twice, other, tensor(twice + other))) == std::tuple(1.f, 10.f, 11.f));
    for (auto& w : workers) w.join();
}

TEST_CASE("host_call: one that never comes back ends with its step's time, its progress_timeout or its token") {
    const graph_scope here{graph()};
    std::vector<host_result<float>> kept;
    const auto never = host_call<float>([&](float, host_result<float> done) { kept.push_back(done); }, constant(1.f));
    const session s;
    CHECK_THROWS_AS(s.run(never, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
    const session hasty({.progress_timeout = std::chrono::milliseconds(20)});
    CHECK_THROWS_WITH(hasty.run(never), contains("progress_timeout"));
    const cancellation_token token;
    std::thread ends([&] { token.cancel(); });
    CHECK_THROWS_AS(s.run(never, {.cancel = token}), cancelled);
    ends.join();
    session closing;
    std::thread closes([&] { closing.close(); });
    CHECK_THROWS_AS(closing.run(never), cancelled);
    closes.join();
    for (const auto& done : kept) done(1.f); // too late: nothing happens
}

TEST_CASE("host_call: without operands it says where it was made") {
    const graph_scope here{graph()};
    const auto fails = [] { throw std::runtime_error("no"); };
    const session s;
    CHECK_THROWS_WITH(s.run(host_call(fails)), contains("host_call.cpp:"));
    CHECK_THROWS_WITH(s.run(host_call<int>([&] { return fails(), 1; })), contains("host_call.cpp:"));
}

} // namespace test_ops_control_host_call
