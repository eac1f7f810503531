// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/client_session.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <rill/core/log.hpp>
#include <rill/core/platform.hpp>
#include <rill/distributed.hpp>
#include <rill/distributed/master.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/while_loop.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>

#include "catch.hpp"
#include "distributed/simulated_cluster.hpp"

using namespace rill;

namespace test_client_session {

using namespace std::chrono_literals;
using simulator::virtual_client;
using simulator::virtual_cluster;

template <class F> auto on(const char* device, F f) {
    const device_scope here(device);
    return f();
}

TEST_CASE("client session: a client in a task of its own runs a graph that grows") {
    virtual_cluster all(1, {.reset_one_in = 40});
    virtual_client client(all, "client", "worker", 0);
    graph g;
    graph_scope use(g);
    const auto w = on("/job:ps/task:1", [] { return variable<float, 2>("w", 1.f); });
    placeholder<float, 2> x("x");
    session s({.target = client.target});
    s.run(w.initializer());
    const tensor<float, 2> sum(w + x);
    const std::vector<float> two{1.f, 2.f};
    CHECK(s.run(sum, feed(x, two))(1) == 3.f);
    const auto twice = on("/job:worker/task:1", [&] { return tensor<float, 2>(sum * 2.f); }); // the graph has grown
    CHECK(s.run(twice, feed(x, two))(1) == 6.f);
    const auto step = s.make_callable(std::tuple(twice, w.assign_add(x)), x);
    CHECK(std::get<0>(step(two))(0) == 4.f);
    CHECK(s.run(w)(1) == 3.f);

    CHECK(s.devices().size() == 4);
    CHECK(s.devices()[0].name == "/job:worker/replica:0/task:0/device:CPU:0");
    for (const auto& d : s.devices()) CHECK(d.memory == detail::host_memory()); // each task tells
    const auto parts = s.partition({twice}, {x});
    CHECK(parts.size() == 3);
    CHECK(std::ranges::any_of(parts, [](const auto& p) { return p.device == "job:ps_replica:0_task:1_device:cpu:0"; }));
    const auto [value, trace] = s.run_traced(twice, feed(x, two));
    CHECK(value(0) == 6.f);
    CHECK(std::ranges::any_of(trace.entries, [](const auto& e) { return e.task == "/job:ps/replica:0/task:1"; }));
    CHECK(std::ranges::any_of(trace.entries, [](const auto& e) { return e.task == "/job:worker/replica:0/task:1"; }));

    session::reset(client.target, {}, 5s);
    CHECK_THROWS_AS(s.run(w), cancelled);
    session after({.target = client.target});
    CHECK_THROWS_AS(after.run(w), failed_precondition);
    CHECK_THROWS_WITH(after.run(w), contains("/job:ps/replica:0/task:1"));
}

TEST_CASE("client session: the times of a trace are the client's, whatever the clocks of the tasks say") {
    virtual_cluster all(6, {}, false);
    all.world.clocks_ahead = {{rill::task_name("ps", 1), 5h}, {rill::task_name("worker", 1), 48h}, {"client", 1h}};
    for (const auto& t : all.spec.all_tasks()) all.start(t.job, t.task);
    virtual_client client(all, "client", "worker", 0);
    graph g;
    graph_scope use(g);
    const placeholder<float> x("x");
    const auto queue = on("/job:ps/task:1", [] { return fifo_queue<tensor<float>>({.capacity = 1}); });
    const auto taken = on("/job:ps/task:1", [&] { return queue.dequeue(); });
    const auto after = on("/job:worker/task:1", [&] { return tensor<float>(taken * 2.f, "after"); });
    session s({.target = client.target});
    const auto put = s.make_callable(queue.enqueue(x), x);
    put(1.f);
    CHECK(s.run(after) == 2.f); // the tasks have their parts, and the links are open

    const auto began = all.world.time.now();
    all.world.after(100s, [&] { put.start(3.f, [](const std::exception_ptr&, auto&&...) {}); });
    const auto [value, trace] = s.run_traced(after);
    const std::int64_t lasted = std::chrono::nanoseconds(all.world.time.now() - began).count();
    CHECK(value == 6.f);
    const auto entry = [&](const std::string& node, step_trace::kind what) {
        const auto at =
            std::ranges::find_if(trace.entries, [&](const auto& e) { return e.node == node && e.what == what; });
        REQUIRE(at != trace.entries.end());
        return *at;
    };
    const auto waits = entry(taken.node()->name, step_trace::kind::waited);
    const auto runs = entry("after", step_trace::kind::ran);
    CHECK(waits.task == rill::task_name("ps", 1));
    CHECK(runs.task == rill::task_name("worker", 1));
    for (const auto& e : trace.entries) {
        CHECK(e.begin >= 0);
        CHECK(e.begin <= e.end);
        CHECK(e.end <= lasted);
    }
    // the messages took what is left: by so much at most is the time of a task wrong
    const std::int64_t outside = lasted - (waits.end - waits.begin);
    CHECK(waits.end - waits.begin > std::chrono::nanoseconds(90s).count());
    CHECK(outside < std::chrono::nanoseconds(30s).count());
    CHECK(waits.begin <= outside);
    CHECK(runs.begin >= waits.end - outside);
    CHECK(runs.end <= waits.end + outside);
}

TEST_CASE("client session: feeds and fetches of many bytes") {
    virtual_cluster all(2, {.reset_one_in = 30});
    virtual_client client(all, "client", "worker", 0);
    graph g;
    graph_scope use(g);
    placeholder<float, dyn> x("x");
    const auto twice = on("/job:ps/task:0", [&] { return tensor<float, dyn>(x + x); });
    session s({.target = client.target});
    std::vector<float> xs(1'000'000);
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(i);
    const auto got = s.run(twice, feed(x, xs));
    REQUIRE(got.size() == xs.size());
    CHECK(got(999'999) == 1'999'998.f);
    CHECK(got(12'345) == 24'690.f);
}

TEST_CASE("client session: a master that dies during a call ends it with its name and incarnation") {
    virtual_cluster all(3, {});
    virtual_client client(all, "client", "worker", 0);
    graph g;
    graph_scope use(g);
    const auto queue = on("/job:ps", [] { return fifo_queue<tensor<float>>({.capacity = 1}); });
    const auto waits = on("/job:ps", [&] { return queue.dequeue(); });
    session s({.target = client.target});
    const auto call = s.make_callable(std::tuple(waits));
    const auto incarnation = std::to_string(all.servers.at({"worker", 0})->incarnation());
    std::exception_ptr problem;
    call.start([&](std::exception_ptr p, auto) { problem = p; });
    all.world.time.sleep(1s);
    CHECK_FALSE(problem);
    all.kill("worker", 0);
    all.world.time.sleep(6s);
    REQUIRE(problem);
    try {
        std::rethrow_exception(problem);
    } catch (const unavailable& e) {
        CHECK(e.task() == "/job:worker/replica:0/task:0");
        CHECK_THAT(std::string(e.what()), contains(incarnation));
    }
    all.world.time.sleep(2s); // the parameter server gives up the step of the dead master, too: it takes no element
    all.start("worker", 0);
    CHECK_THROWS_AS(call(), aborted); // the master has lost the session
    session again({.target = client.target});
    placeholder<float> x("x");
    again.run(queue.enqueue(x), feed(x, 5.f));
    CHECK(again.run(waits) == 5.f);
}

TEST_CASE("client session: a server that has started again opens a new session at once") {
    virtual_cluster all(4, {});
    virtual_client client(all, "client", "worker", 0);
    graph g;
    graph_scope use(g);
    const auto x = on("/job:worker", [] { return placeholder<float>("x"); });
    const auto y = on("/job:worker", [&] { return tensor<float>(x * 2.f); });
    session before({.target = client.target});
    CHECK(before.run(y, feed(x, 3.f)) == 6.f);
    all.kill("worker", 0);
    all.start("worker", 0);
    session after({.target = client.target}); // the client does not know yet that the server is another one
    CHECK(after.run(y, feed(x, 4.f)) == 8.f);
    CHECK_THROWS_AS(before.run(y, feed(x, 3.f)), aborted);
}

TEST_CASE("client session: a first run ends by its timeout and its token, also while its tasks are prepared") {
    virtual_cluster all(7, {}, false);
    for (const auto& [job, task] : {std::pair("ps", 0), std::pair("worker", 0)}) all.start(job, task);
    virtual_client client(all, "client", "worker", 0);
    const graph g;
    const graph_scope use(g);
    const placeholder<float> x("x");
    const auto near = on("/job:ps/task:0", [&] { return tensor<float>(x + 1.f); });
    const auto also_near = on("/job:ps/task:0", [&] { return tensor<float>(x + 2.f); });
    const auto far = on("/job:ps/task:1", [&] { return tensor<float>(x + 3.f); });
    const auto queue = on("/job:ps/task:0", [] { return fifo_queue<tensor<float>>({.capacity = 1}); });
    const auto waits = on("/job:ps/task:0", [&] { return queue.dequeue(); });
    const session s({.target = client.target});
    auto& time = all.world.time;
    const auto takes = [&](const auto& run) {
        const auto began = time.now() - time.busy();
        run();
        return time.now() - time.busy() - began;
    };

    // a task that was never started
    CHECK(takes([&] {
              CHECK_THROWS_WITH(s.run(far, feed(x, 1.f), {.timeout = 1s}),
                                contains("/job:ps/replica:0/task:1") && contains("deadline"));
          }) < 1500ms);
    const cancellation_token token;
    all.world.after(500ms, [&] { token.cancel(); });
    CHECK(takes([&] { CHECK_THROWS_AS(s.run(far, feed(x, 1.f), {.cancel = token}), cancelled); }) < 1s);
    all.start("ps", 1);
    CHECK(s.run(far, feed(x, 1.f), {.timeout = 5s}) == 4.f);

    // one that is frozen
    CHECK(s.run(near, feed(x, 1.f)) == 2.f);
    auto& ps = *all.tasks.at({"ps", 0});
    all.world.freeze(ps);
    CHECK(takes([&] { CHECK_THROWS_AS(s.run(also_near, feed(x, 1.f), {.timeout = 1s}), deadline_exceeded); }) < 1500ms);
    all.world.thaw(ps);
    CHECK(s.run(also_near, feed(x, 1.f)) == 3.f);

    // what is left of the time is the step's
    all.world.slow_down(ps, 300ms);
    const auto took = takes([&] { CHECK_THROWS_AS(s.run(waits, {.timeout = 3s}), deadline_exceeded); });
    CHECK(took > 2s);
    CHECK(took < 3500ms);
}

TEST_CASE("client session: a server gives a session no more devices than it can place nodes on") {
    local_cluster all({{"worker", 1}});
    const auto target = all.at("worker", 0).target();
    CHECK_THROWS_AS(session({.target = target, .device_count = {{"cpu", 2'000'000'000}}}), invalid_argument);
    CHECK(session({.target = target, .device_count = {{"cpu", 3}}}).devices().size() == 3);
    CHECK_THROWS_WITH(session({.target = target, .gpu = {.visible_devices = {0}}}), contains("of this process"));
}

TEST_CASE("client session: nodes run on the second device of any task, the master's included") {
    virtual_cluster all(7, {});
    virtual_client client(all, "client", "worker", 0);
    const graph g;
    const graph_scope use(g);
    const placeholder<float> x("x");
    session s({.target = client.target, .device_count = {{"cpu", 2}}});
    for (const char* task : {"/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"}) {
        const auto second = std::string(task) + "/cpu:1";
        const auto first = on((std::string(task) + "/cpu:0").c_str(), [&] { return tensor<float>(x * 2.f); });
        const auto made = on(second.c_str(), [&] { return tensor<float>(first + 1.f); });
        CHECK(s.run(made, feed(x, 3.f)) == 7.f);
        const auto w = on(second.c_str(), [] { return variable<float>("w", 5.f); });
        s.run(w.initializer());
        CHECK(s.run(std::tuple(w, made), feed(x, 1.f)) == std::tuple(5.f, 3.f));
        CHECK(s.run(w.assign_add(made), feed(x, 1.f)) == 8.f); // beside the variable
    }
    const auto nowhere = on("/job:ps/task:1/cpu:2", [&] { return tensor<float>(x * 3.f); });
    CHECK_THROWS_WITH(s.run(nowhere, feed(x, 1.f)), contains("cpu:2") && contains("device:cpu:1"));
}

TEST_CASE("client session: soft placement holds in bodies, in each task") {
    virtual_cluster all(8, {});
    virtual_client client(all, "client", "worker", 0);
    const graph g;
    const graph_scope use(g);
    const placeholder<int> x("x");
    for (const std::string task : {"/job:ps/task:1", "/job:worker/task:0"}) {
        const device_scope there(task);
        const auto looped = while_loop([](auto i) { return i < 10; },
                                       [](auto i) {
                                           const device_scope missing("/cpu:7");
                                           return tensor<int>(i + 4);
                                       },
                                       tensor<int>(x * 2));
        CHECK_THROWS_WITH(session({.target = client.target}).run(looped, feed(x, 1)), contains("cpu:7"));
        CHECK(session({.target = client.target, .allow_soft_placement = true}).run(looped, feed(x, 1)) == 10);
    }
}

TEST_CASE("client session: the log has each node once, those of bodies included") {
    virtual_cluster all(9, {});
    virtual_client client(all, "client", "worker", 0);
    const graph g;
    const graph_scope use(g);
    const placeholder<int> x("x");
    const auto looped = on("/job:ps/task:1", [&] {
        return while_loop([](auto i) { return i < 10; }, [](auto i) { return tensor<int>(i + 4, "inner"); },
                          tensor<int>(x * 2, "outer"));
    });
    const tensor<int> after(looped + 1, "after");
    const auto cut = while_loop([](auto i) { return i < 10; },
                                [](auto i) {
                                    const device_scope there("/job:ps/task:0");
                                    return tensor<int>(i + 3, "shared");
                                },
                                tensor<int>(x * 2));
    session s({.target = client.target, .log_device_placement = true});
    std::mutex mutex;
    std::vector<std::string> heard;
    set_log_sink([&](log_level, std::string_view text) {
        const std::lock_guard lock(mutex);
        heard.emplace_back(text);
    });
    CHECK(s.run(looped, feed(x, 1)) == 10);
    CHECK(s.run(after, feed(x, 1)) == 11); // another run
    CHECK(s.run(cut, feed(x, 1)) == 11);
    set_log_sink({});
    const auto has = [&](const std::string& node, const std::string& device) {
        const auto is_there = [&](const std::string& line) {
            return line.starts_with(node + ": (") && line.ends_with("): " + device);
        };
        return std::ranges::count_if(heard, is_there) == 1;
    };
    const std::string ps = "/job:ps/replica:0/task:1/device:CPU:0",
                      worker = "/job:worker/replica:0/task:0/device:CPU:0";
    CHECK(has("outer", ps));
    CHECK(has(looped.node()->name, ps));
    CHECK(has("after", worker));
    const auto name_of = [&](const std::string& end) {
        for (const auto* n : g.nodes())
            if (n->name == end || n->name.ends_with("/" + end)) return n->name;
        return std::string();
    };
    CHECK(has(name_of("inner"), ps));
    CHECK(has(name_of("shared"), "/job:ps/replica:0/task:0/device:CPU:0"));
    CHECK(has(cut.node()->name, worker));
    std::ranges::sort(heard);
    CHECK(std::ranges::adjacent_find(heard) == heard.end());
}

TEST_CASE("client session: more fetches and feeds than a header has names for") {
    local_cluster all({{"ps", 1}, {"worker", 1}});
    graph g;
    graph_scope use(g);
    std::vector<any_tensor> fetches;
    std::vector<feed_value> feeds;
    constexpr int count = 2500;
    for (int i = 0; i < count; ++i) {
        const device_scope there(i % 2 ? "/job:ps" : "/job:worker");
        const placeholder<float> x("a_placeholder_with_a_long_name_" + std::to_string(i));
        fetches.emplace_back(tensor<float>(x + 1.f));
        feeds.push_back(feed(x, static_cast<float>(i)));
    }
    session s(g, {.target = all.at("worker", 0).target()});
    const auto values = s.run(fetches, feeds);
    REQUIRE(values.size() == static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        CHECK(values[i].elements<float>()[0] == static_cast<float>(i) + 1.f);
}

#if RILL_WITH_ZMQ
TEST_CASE("client session: sessions with other keys do not share the connection to a target") {
    auto& links = rill::detail::the_client_links();
    session_options keys;
    auto [open, secret] = make_key_pair();
    keys.security = credentials{.name = "alice", .public_key = open, .secret_key = secret};
    const std::string target = "tcp://127.0.0.1:9";
    CHECK(links.find(target) == links.find("127.0.0.1:9"));
    CHECK(links.find(target, keys) == links.find(target, keys));
    CHECK(links.find(target, keys) != links.find(target));
}
#endif

TEST_CASE("client session: no server where there should be one") {
    virtual_cluster all(4, {});
    all.kill("worker", 1);
    virtual_client client(all, "client", "worker", 1);
    graph g;
    CHECK_THROWS_WITH((session(g, {.target = client.target})), contains("virtual/worker1"));
    CHECK(all.world.time.now().time_since_epoch() < 31s);
    CHECK_THROWS_AS((session(g, {.target = "nothing://here"})), invalid_argument);
}

/// A master, its task, and a client, with all that connects them.
struct master_task {
    simulator::simulated_world world{5};
    simulator::simulated_world::task &here = world.start("master"), &there = world.start("client");
    std::shared_ptr<transport> net = std::make_shared<simulator::simulated_net>(world, here);
    const detail::task_identity self{"/job:worker/replica:0/task:0", 77, "digest"};
    const health_options health{};
    std::shared_ptr<detail::peer_channels> peers =
        std::make_shared<detail::peer_channels>(cluster_spec{{"worker", {"m"}}}, self, net, here, health);
    std::shared_ptr<detail::worker> own = std::make_shared<detail::worker>(peers, default_allocator());
    std::shared_ptr<detail::master> leads = std::make_shared<detail::master>(peers, own);
    std::shared_ptr<detail::responder> answers = std::make_shared<detail::responder>(
        net, here, self, health, [this](const detail::incoming_request& r, const detail::answer_function& reply) {
            detail::master::serves(r.method) ? leads->handle(r, reply) : own->handle(r, reply);
        });
    std::shared_ptr<detail::channel> to =
        std::make_shared<detail::channel>(std::make_shared<simulator::simulated_net>(world, there), there,
                                          detail::client_identity(there), "m", "", health);

    master_task() {
        answers->listen("m");
        detail::the_client_links().add("local://simulated/lease", to);
    }
    ~master_task() { detail::the_client_links().remove("local://simulated/lease", to); }
};

TEST_CASE("client session: the master closes the session of a client that has vanished, not that of one that idles") {
    master_task all;
    graph g;
    graph_scope use(g);
    const variable<float> w("w", 2.f);
    session s({.target = "local://simulated/lease"});
    s.run(w.initializer());
    CHECK(all.to->peer() == "/job:worker/replica:0/task:0");
    all.world.time.sleep(600s);
    CHECK(all.leads->sessions() == 1);
    CHECK(s.run(w) == 2.f);
    {
        session other({.target = "local://simulated/lease"});
        CHECK(all.leads->sessions() == 2);
    }
    all.world.time.sleep(1s);
    CHECK(all.leads->sessions() == 1);
    all.world.freeze(all.there);
    all.world.time.sleep(100s);
    CHECK(all.leads->sessions() == 0);
    all.world.thaw(all.there);
    CHECK_THROWS_WITH(s.run(w), contains("no sign of life"));
    session again({.target = "local://simulated/lease"});
    CHECK(again.run(w) == 2.f); // the state of the task is not the session's
}

} // namespace test_client_session
