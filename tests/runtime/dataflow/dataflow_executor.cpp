// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/dataflow/dataflow_executor.hpp>

#include <chrono>
#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_runtime_dataflow_executor {

const session_options is_dataflow{.raise_primitives = false};

/// Counts to n; so many iterations at once.
tensor<int> count(const tensor<int>& n, int parallel, const std::string& name = "l") {
    const auto i = merge(enter(constant(0), name, {.parallel_iterations = parallel}));
    const auto way = switch_(i.value, loop_cond(i.value < n));
    close_loop({{i, next_iteration(way.if_true + 1)}});
    return leave(way.if_false);
}

TEST_CASE("dataflow_executor: values do not depend on how many iterations are under way") {
    for (const int parallel : {1, 2, 10}) {
        const graph_scope here{graph()};
        placeholder<int> n("n");
        const auto i = merge(enter(constant(0), "l", {.parallel_iterations = parallel}));
        const auto s = merge(enter(constant(0), "l", {.parallel_iterations = parallel}));
        const auto go = loop_cond(i.value < n);
        const auto iw = switch_(i.value, go), sw = switch_(s.value, go);
        // the counter runs ahead of the sum
        tensor<int> slow = iw.if_true;
        for (int k = 0; k < 20; ++k) slow = tensor<int>(slow + 0);
        close_loop({{i, next_iteration(iw.if_true + 1)}, {s, next_iteration(sw.if_true + slow)}});
        const session run(is_dataflow);
        CHECK(run.run(leave(sw.if_false), feed(n, 100)) == 4950);
        CHECK(run.run(leave(sw.if_false), feed(n, 0)) == 0);
    }
}

TEST_CASE("dataflow_executor: a loop in a branch that is not taken is dead, and so is what leaves it") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const auto way = switch_(n, sealed(n > 0));
    const auto i = merge(enter(way.if_true, "l"));
    const auto w = switch_(i.value, loop_cond(i.value < 10));
    close_loop({{i, next_iteration(w.if_true * 2)}});
    const auto out = leave(w.if_false);
    for (const auto& o : {session_options(), is_dataflow}) {
        const session s(o);
        CHECK(s.run(out, feed(n, 3)) == 12);
        CHECK_THROWS_WITH(s.run(out, feed(n, -3)), contains("'exit:0' is dead"));
        CHECK(s.run(merge(way.if_false, out).value, feed(n, -3)) == -3);
        CHECK(s.run(merge(way.if_false, out).value, feed(n, 3)) == 12);
    }
}

TEST_CASE("dataflow_executor: errors say in which iteration, and in which node") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const auto i = merge(enter(constant(0), "l"));
    const auto way = switch_(i.value, loop_cond(i.value < n));
    const auto row = gather(constant({1, 2, 3}), way.if_true);
    close_loop({{i, next_iteration(row)}});
    for (const auto& o : {session_options(), is_dataflow}) {
        const session s(o);
        CHECK_THROWS_AS(s.run(leave(way.if_false), feed(n, 9)), invalid_argument);
        CHECK_THROWS_WITH(s.run(leave(way.if_false), feed(n, 9)), contains("in iteration 3") && contains("'gather'"));
        CHECK(s.run(leave(way.if_false), feed(n, 3)) == 3);
    }
}

TEST_CASE("dataflow_executor: a loop that does not end is ended by a token, a timeout, or close") {
    const graph_scope here{graph()};
    const auto i = merge(enter(constant(0), "l"));
    const auto way = switch_(i.value, loop_cond(i.value < 10));
    close_loop({{i, next_iteration(way.if_true * 1)}});
    const auto never = leave(way.if_false);
    for (const auto& o : {session_options(), is_dataflow}) {
        session s(o);
        CHECK_THROWS_AS(s.run(never, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
        const cancellation_token token;
        std::thread by([&] { token.cancel(); });
        CHECK_THROWS_AS(s.run(never, {.cancel = token}), cancelled);
        by.join();
        std::thread closing([&] { s.close(); });
        CHECK_THROWS_AS(s.run(never), cancelled);
        closing.join();
    }
}

/// A loop of primitives that takes a number out of one queue, puts what f makes of it into another, n times; the sum of what it took.
template <class F>
tensor<int> relay(const fifo_queue<tensor<int>>& from, const fifo_queue<tensor<int>>& to, int n, const F& f,
                  const std::string& name) {
    const auto i = merge(enter(constant(0), name)), sum = merge(enter(constant(0), name));
    const auto go = loop_cond(i.value < n);
    const auto iw = switch_(i.value, go), sw = switch_(sum.value, go);
    tensor<int> got, next;
    {
        const tensor<int> goes_on(iw.if_true + 0); // the switch itself runs once more
        const control_dependencies after(goes_on);
        got = from.dequeue();
    }
    {
        const control_dependencies after(to.enqueue(f(got)));
        next = tensor<int>(iw.if_true + 1);
    }
    close_loop({{i, next_iteration(next)}, {sum, next_iteration(sw.if_true + got)}});
    return leave(sw.if_false);
}

TEST_CASE("dataflow_executor: loops that wait for one another do not hold one another up") {
    for (const auto& o : {session_options{.progress_timeout = std::chrono::seconds(60)},
                          session_options{.raise_primitives = false, .progress_timeout = std::chrono::seconds(60)}}) {
        const graph_scope here{graph()};
        const fifo_queue<tensor<int>> there, back;
        const auto a = relay(back, there, 10, [](const auto& x) { return x + 1; }, "a");
        const auto b = relay(there, back, 10, [](const auto& x) { return x * 2; }, "b");
        const session s(o);
        s.run(back.enqueue(1));
        int x = 1, of_a = 0, of_b = 0;
        for (int k = 0; k < 10; ++k) {
            of_a += x;
            of_b += x + 1;
            x = 2 * (x + 1);
        }
        CHECK(s.run(std::tuple(a, b)) == std::tuple(of_a, of_b));
        CHECK(s.run(back.dequeue()) == x);
        // one in each step of a loop that has stages of its own
        const auto outer = while_loop([](auto k, auto) { return k < 3; },
                                      [&](auto k, auto sum) {
                                          const control_dependencies after(back.enqueue(k));
                                          return std::tuple(k + 1, sum + there.dequeue());
                                      },
                                      0, 0);
        const auto c = relay(back, there, 3, [](const auto& y) { return y + 1; }, "c");
        CHECK(s.run(std::tuple(std::get<1>(outer), c)) == std::tuple(6, 3));
    }
}

TEST_CASE("dataflow_executor: what waits in a loop can be ended, and says where it was") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> from, to;
    const auto sum = relay(from, to, 4, [](const auto& x) { return x; }, "l");
    const auto fails = relay(from, to, 4, [](const auto& x) { return gather(constant({1, 2}), x); }, "m");
    session s(is_dataflow);
    s.run(from.enqueue(1));
    CHECK_THROWS_AS(s.run(sum, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
    s.run(from.enqueue_many(constant({1, 1, 5})));
    CHECK_THROWS_WITH(s.run(fails), contains("in iteration 2") && contains("'gather"));
    CHECK(s.run(from.size()) == 0);
    const session hasty({.raise_primitives = false, .progress_timeout = std::chrono::milliseconds(20)});
    CHECK_THROWS_WITH(hasty.run(sum), contains("progress_timeout") && contains("'dequeue"));
    s.run(from.close());
    CHECK_THROWS_WITH(s.run(sum), contains("in iteration 0") && contains("is closed"));
    std::thread closing([&] { s.close(); });
    CHECK_THROWS_AS(s.run(sum), error);
    closing.join();
}

TEST_CASE("dataflow_executor: several runs at once") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const auto out = count(n, 10);
    const session s(is_dataflow);
    std::vector<int> got(4);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t) all.emplace_back([&, t] { got[t] = s.run(out, feed(n, 50 + t)); });
    for (auto& t : all) t.join();
    CHECK(got == std::vector<int>{50, 51, 52, 53});
}

} // namespace test_runtime_dataflow_executor
