// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/local_cluster.hpp>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>
#include <rill/core/platform.hpp>
#include <rill/distributed.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/control/switch.hpp>
#include <rill/ops/control/while_loop.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_local_cluster {

using namespace std::chrono_literals;

constexpr health_options fast{.heartbeat = std::chrono::milliseconds(20),
                              .slow = std::chrono::milliseconds(100),
                              .suspect = std::chrono::milliseconds(300),
                              .dead = std::chrono::milliseconds(1000),
                              .connect = std::chrono::milliseconds(2000),
                              .control = std::chrono::milliseconds(5000)};

TEST_CASE("local cluster: a variable on one task, a product on another") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    graph g;
    graph_scope use(g);
    const auto count = [] {
        device_scope on("/job:ps");
        return variable<float>("count", 0.f);
    }();
    tensor<float> next;
    {
        device_scope on("/job:worker/task:0");
        next = tensor<float>(count * 2.f + 1.f);
    }
    auto step = count.assign(next);
    session s({.target = all.at("worker", 0).target()});
    s.run(count.initializer());
    for (int i = 0; i < 10; ++i) s.run(step);
    CHECK(s.run(count) == 1023.f);

    CHECK(s.devices().size() == 2 * known_devices().size()); // tests of a program may register types of devices
    CHECK(s.devices()[0].name == "/job:worker/replica:0/task:0/device:CPU:0");
    CHECK(s.partition({step}).size() == 2);

    // a graph that grew is run again, and other sessions see the state of the tasks
    tensor<float> more(count + 1.f);
    CHECK(s.run(more) == 1024.f);
    session other({.target = all.at("ps", 0).target()});
    CHECK(other.run(count) == 1023.f);
    session::reset(all.at("worker", 0).target());
    CHECK_THROWS_AS(s.run(count), cancelled);
    session after({.target = all.at("worker", 0).target()});
    CHECK_THROWS_AS(after.run(count), failed_precondition);
}

TEST_CASE("local cluster: a loop runs in the task of its variables, or in several") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    const graph g;
    const graph_scope use(g);
    const auto sum = [] {
        const device_scope on("/job:ps");
        return variable<float>("sum", 0.f);
    }();
    const placeholder<float> x("x");
    const auto own = while_loop([](auto s) { return s < 20.f; },
                                [&](auto s) { return tensor<float>(sum.assign_add(s) + 1.f); }, tensor<float>(x * 1.f));
    const auto both = while_loop([](auto s) { return s < 100.f; },
                                 [](auto s) {
                                     const auto twice = [&] {
                                         const device_scope on("/job:worker/task:0");
                                         return tensor<float>(s * 2.f);
                                     }();
                                     const device_scope on("/job:ps");
                                     return tensor<float>(twice + 1.f);
                                 },
                                 tensor<float>(x * 1.f));
    const session s({.target = all.at("worker", 0).target()});
    s.run(sum.initializer());
    CHECK(s.run(own, feed(x, 1.f)) == 32.f);
    CHECK(s.run(sum) == 31.f);
    CHECK(s.run(both, feed(x, 3.f)) == 127.f);
    const auto parts = s.partition({both}, {x});
    REQUIRE(parts.size() == 2);
    for (const auto& p : parts) CHECK(p.graph.state().find(both.node()->name));
}

TEST_CASE("local cluster: a trace has the nodes of all tasks, with what crosses between them") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    graph g;
    graph_scope use(g);
    placeholder<float> x("x");
    tensor<float> first, second;
    {
        device_scope on("/job:ps");
        first = tensor<float>(x + 1.f, "first");
    }
    {
        device_scope on("/job:worker");
        second = tensor<float>(first * 2.f, "second");
    }
    session s({.target = all.at("worker", 0).target()});
    const auto [value, trace] = s.run_traced(second, feed(x, 2.f));
    CHECK(value == 6.f);
    REQUIRE(trace.position("first") >= 0);
    REQUIRE(trace.position("second") >= 0);
    CHECK(trace.entries[static_cast<std::size_t>(trace.position("first"))].task == "/job:ps/replica:0/task:0");
    CHECK(trace.entries[static_cast<std::size_t>(trace.position("second"))].task == "/job:worker/replica:0/task:0");
    CHECK(std::ranges::is_sorted(trace.entries, {}, &step_trace::entry::begin));
    const auto json = trace.chrome_json();
    CHECK_THAT(json, contains("\"ph\":\"s\"") && contains("\"ph\":\"f\"") && contains("/job:ps/replica:0/task:0"));
}

TEST_CASE("local cluster: the trace of a loop over two tasks has an arrow for each value of an edge") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    const graph g;
    const graph_scope use(g);
    const placeholder<float> x("x");
    const auto last = while_loop([](auto s) { return s < 100.f; },
                                 [](auto s) {
                                     const auto twice = [&] {
                                         const device_scope on("/job:worker/task:0");
                                         return tensor<float>(s * 2.f);
                                     }();
                                     const device_scope on("/job:ps");
                                     return tensor<float>(twice + 1.f);
                                 },
                                 tensor<float>(x * 1.f));
    const session s({.target = all.at("worker", 0).target()});
    const auto [value, trace] = s.run_traced(last, feed(x, 3.f));
    CHECK(value == 127.f); // after five iterations
    std::multiset<std::string> begins, ends;
    const auto json = nlohmann::json::parse(trace.chrome_json());
    for (const auto& e : json.at("traceEvents")) {
        if (e.at("ph") == "s") begins.insert(e.at("id").get<std::string>());
        if (e.at("ph") == "f") ends.insert(e.at("id").get<std::string>());
    }
    CHECK(begins == ends);
    CHECK(begins.size() >= 10); // there and back
    for (const auto& id : begins) CHECK(begins.count(id) == 1);
}

TEST_CASE("local cluster: 16-bit edges, and values of variables of an exported graph") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    graph g;
    graph_scope use(g);
    const auto w = [] {
        device_scope on("/job:ps");
        return variable<float>("w", 1.00390625f); // between two numbers of 16 bits
    }();
    tensor<float> twice;
    {
        device_scope on("/job:worker");
        twice = tensor<float>(w * 2.f);
    }
    session exact({.target = all.at("worker", 0).target()});
    session narrow({.target = all.at("worker", 0).target(), .wire = wire_format::upper16});
    CHECK(exact.variable_values().values.empty());
    exact.run(w.initializer());
    CHECK(exact.run(twice) == 2.0078125f);
    CHECK(narrow.run(twice) == 2.f);
    CHECK(exact.variable_values().values.size() == 1);
}

TEST_CASE("local cluster: errors come back with their code, and the session goes on") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    graph g;
    graph_scope use(g);
    placeholder<float, dyn> x("x"), y("y");
    tensor<float, dyn> sum;
    {
        device_scope on("/job:ps");
        sum = tensor<float, dyn>(x + y);
    }
    tensor<float, dyn> twice(sum * 2.f);
    session s({.target = all.at("worker", 0).target()});
    const std::vector<float> two{1.f, 2.f}, three{1.f, 2.f, 3.f};
    CHECK_THROWS_AS(s.run(twice, feed(x, two), feed(y, three)), invalid_argument);
    CHECK(s.run(twice, feed(x, two), feed(y, two))(1) == 8.f);
}

TEST_CASE("local cluster: a killed task ends a run with an error that names it") {
    local_cluster all({{"ps", 1}, {"worker", 1}}, {.health = fast});
    graph g;
    graph_scope use(g);
    const auto count = [] {
        device_scope on("/job:ps");
        return variable<float>("count", 1.f);
    }();
    tensor<float> next(count + 1.f);
    session s({.target = all.at("worker", 0).target()});
    s.run(count.initializer());
    CHECK(s.run(next) == 2.f);
    const auto incarnation = std::to_string(all.at("ps", 0).incarnation());
    all.kill("ps", 0);
    CHECK_THROWS_AS(s.run(next), unavailable);
    CHECK_THROWS_WITH(s.run(next, {.timeout = 100ms}), contains("/job:ps/replica:0/task:0") && contains(incarnation));
    all.restart("ps", 0);
    CHECK_THROWS_AS(s.run(next), aborted); // its state is lost, and nobody may go on as if it was not
    session again({.target = all.at("worker", 0).target()});
    CHECK_THROWS_AS(again.run(next), failed_precondition);
    again.run(count.initializer());
    CHECK(again.run(next) == 2.f);
}

/// Steps that compute without end on all threads of the environment.
class endless_work {
public:
    endless_work()
        : loop_([&] {
              const graph_scope here(g_);
              return while_loop([](auto x) { return x < 2.f; }, [](auto x) { return tensor<float>(x * 0.5f); },
                                tensor<float>(x_ * 1.f));
          }()),
          s_(g_, {.inter_op_threads = 0, .intra_op_threads = 0}) {
        const auto compute = s_.make_callable(loop_, x_).with({.cancel = token_});
        for (int i = 0; i < count_; ++i) compute.start(1.f, [&](std::exception_ptr, const auto&) { ++ended_; });
    }
    ~endless_work() {
        token_.cancel();
        while (ended_ < count_) std::this_thread::yield();
    }

private:
    const int count_ = std::max(detail::usable_processors() - 1, 1) + 16; // earlier tests may have left threads
    const cancellation_token token_;
    std::atomic<int> ended_{0};
    const graph g_;
    const placeholder<float> x_ = [&] {
        const graph_scope here(g_);
        return placeholder<float>("x");
    }();
    const tensor<float> loop_;
    const session s_;
};

TEST_CASE("local cluster: steps that compute on all threads stop neither heartbeats nor deadlines") {
    local_cluster all({{"ps", 1}, {"worker", 1}}, {.health = fast});
    const graph g;
    const graph_scope use(g);
    const placeholder<float> x("x");
    const auto next = [&] {
        const device_scope here("/job:ps");
        return tensor<float>(x + 1.f);
    }();
    const session s({.target = all.at("worker", 0).target()});
    const auto add = s.make_callable(next, x);
    CHECK(std::get<0>(add(1.f)) == 2.f);
    const auto& worker = all.at("worker", 0);
    const endless_work busy;
    // the step does not begin; tasks that live are not found dead meanwhile
    CHECK_THROWS_AS(add.with({.timeout = fast.dead * 5 / 2})(1.f), deadline_exceeded);
    CHECK(worker.health("ps", 0) == peer_health::alive);
    all.kill("ps", 0);
    const auto began = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(add.with({.timeout = 200ms})(1.f), deadline_exceeded);
    CHECK(std::chrono::steady_clock::now() - began < 3s);
    CHECK_THROWS_AS(add(1.f), unavailable);
    CHECK(worker.health("ps", 0) == peer_health::dead);
}

TEST_CASE("local cluster: targets") {
    graph g;
    graph_scope use(g);
    CHECK_THROWS_AS(session({.target = "local://nobody"}), unavailable);
    local_cluster all({{"worker", 1}});
    CHECK_THROWS_AS(all.at("ps", 0), not_found);
    placeholder<float> x("x");
    tensor<float> y;
    {
        device_scope on("/job:ps");
        y = tensor<float>(x + 1.f);
    }
    session s({.target = all.at("worker", 0).target()});
    CHECK_THROWS_WITH(s.run(y, feed(x, 1.f)), contains("/job:ps"));
    s.close();
    CHECK_THROWS_AS(s.run(x, feed(x, 1.f)), cancelled);
}
TEST_CASE("local cluster: primitives that form no branch or loop run in one task, beside a part in another") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    const graph g;
    const graph_scope use(g);
    const placeholder<float> x("x");
    const auto on = [](const char* device, const auto& make) {
        const device_scope there(device);
        return make();
    };
    const auto merged = on("/job:ps", [&] {
        const auto ways = switch_(x, sealed(x > 0.f));
        return tensor<float>(merge(ways.if_false * 2.f, ways.if_true * 3.f).value + 1.f);
    });
    const auto beside = on("/job:worker", [&] { return tensor<float>(x * 5.f); });
    const auto within = on("/job:ps", [&] { // a node with bodies among the primitives
        const auto ways = switch_(x, sealed(x > 1.f));
        const auto inner = cond(sealed(ways.if_true > 2.f), [&] { return tensor<float>(ways.if_true * 2.f); },
                                [&] { return tensor<float>(ways.if_true * 3.f); });
        return tensor<float>(merge(ways.if_false, inner).value + 1.f);
    });
    for (const bool raise : {true, false}) {
        const session s({.target = all.at("worker", 0).target(), .raise_primitives = raise});
        CHECK(s.run(std::tuple(merged, beside), feed(x, 2.f)) == std::tuple(7.f, 10.f));
        CHECK(s.run(std::tuple(merged, beside), feed(x, -2.f)) == std::tuple(-3.f, -10.f));
        CHECK(s.run(std::tuple(within, beside), feed(x, 3.f)) == std::tuple(7.f, 15.f));
    }
}

} // namespace test_local_cluster
