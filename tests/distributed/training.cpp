// SPDX-License-Identifier: BSD-3-Clause
// Training by several tasks: sync_replicas and monitored_session across a cluster.

#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <string>
#include <thread>

#include <rill/distributed.hpp>
#include <rill/ops/collective/all_reduce.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/global_step.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/monitored_session.hpp>
#include <rill/train/replica_device_setter.hpp>
#include <rill/train/sync_replicas.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"
#include "train/replicas.hpp"

using namespace rill;
using namespace replica_test;

namespace test_distributed_training {

/// Trains with a worker for each replica, and the variables on several servers.
template <class Optimizer> weights in_cluster(const Optimizer& by, int servers) {
    local_cluster all({{"ps", servers}, {"worker", replicas}});
    std::optional<weights> found;
    std::atomic<bool> ready{false};
    in_threads(replicas, [&](int task) {
        const graph g;
        const graph_scope here(g);
        const device_scope on(
            replica_device_setter(all.spec(), {.worker = "/job:worker/task:" + std::to_string(task)}));
        const model m;
        const placeholder<float, dyn> x("x");
        const placeholder<int, dyn> ids("ids");
        const operation train = sync_replicas(by, {.replicas_to_aggregate = replicas}).minimize(m.loss(x, ids), m.step);
        const session s({.target = all.at("worker", task).target()});
        if (task == 0) {
            s.run(global_variables_initializer());
            ready = true;
            ready.notify_all();
        }
        ready.wait(false);
        for (int i = 0; i < steps; ++i)
            s.run(train, feed(x, inputs(task, i)), feed(ids, words(task, i)), {.timeout = long_enough});
        if (task == 0) {
            CHECK(s.run(m.step) == steps);
            found = values_of(s, m);
        }
    });
    return *found;
}

TEST_CASE("sync_replicas: workers of a cluster, variables on one server or two, the bits of one process") {
    CHECK(in_cluster(adam(0.05f), 1) == alone(adam(0.05f)));
    CHECK(in_cluster(gradient_descent(0.1f), 2) == alone(gradient_descent(0.1f)));
}

#if RILL_WITH_ZMQ
TEST_CASE("sync_replicas: clients of one server, which it tells apart by their sessions") {
    const server node = create_local_server();
    std::atomic<int> initialised{0};
    in_threads(2, [&](int k) {
        const graph g;
        const graph_scope here(g);
        const variable<float> w("w", 0.f);
        const variable<int> step("step", 0, {.trainable = false});
        const placeholder<float> to("to");
        const auto sync = sync_replicas(gradient_descent(0.5f), {.replicas_to_aggregate = 2});
        const operation train = sync.minimize(square(w - to), step);
        const session s({.target = node.target()});
        if (k == 0) {
            s.run(global_variables_initializer());
            initialised = 1;
            initialised.notify_all();
        }
        initialised.wait(0);
        for (int i = 0; i < 5; ++i) s.run(train, feed(to, static_cast<float>(4 * k)), {.timeout = long_enough});
        if (k == 0) {
            s.run(sync.leave());
            return;
        }
        CHECK(s.run(w) == 2.f); // between 0 and 4
        CHECK(s.run(step) == 5);
        CHECK_THROWS_AS(s.run(train, feed(to, 0.f), {.timeout = long_enough}), out_of_range);
    });
}
#endif

TEST_CASE("all_reduce: tasks of a cluster, each of which adds up a piece") {
    constexpr int ranks = 3;
    constexpr index_t count = 60'001; // no multiple of the ranks
    local_cluster all({{"worker", ranks}});
    std::vector<std::string> tasks;
    for (int k = 0; k < ranks; ++k) tasks.push_back("/job:worker/task:" + std::to_string(k));
    std::array<xt::xtensor<float, 1>, ranks> sums;
    in_threads(ranks, [&](int rank) {
        const graph g;
        const graph_scope here(g);
        const device_scope own(tasks[static_cast<std::size_t>(rank)]);
        const collective_group group({.name = "pieces", .ranks = ranks, .rank = rank, .tasks = tasks});
        const placeholder<float, count> x("x");
        const tensor<float, count> sum = all_reduce(x, group);
        const session s({.target = all.at("worker", rank).target()});
        const xt::xtensor<float, 1> value = xt::arange<float>(0, static_cast<float>(count)) * static_cast<float>(rank + 1);
        for (int i = 0; i < 2; ++i) sums[static_cast<std::size_t>(rank)] = s.run(sum, feed(x, value));
    });
    for (const auto& sum : sums) {
        CHECK(sum(1) == 6.f);
        CHECK(sum(count - 1) == 6.f * static_cast<float>(count - 1));
        CHECK((sum == sums[0]));
    }
}

TEST_CASE("monitored_session: a worker of a cluster waits for the chief, and names what is missing") {
    local_cluster all({{"ps", 1}, {"worker", 2}});
    const graph g;
    const graph_scope here(g);
    const device_scope on(replica_device_setter(all.spec()));
    const variable<std::int64_t> global_step = get_or_create_global_step();
    const variable<float, 2> w("w", {1.f, 2.f});
    const operation train =
        sync_replicas(gradient_descent(0.25f), {.replicas_to_aggregate = 2}).minimize(reduce_sum(w * w), global_step);
    const auto worker = [&](std::chrono::nanoseconds timeout) {
        return monitored_session_options{.target = all.at("worker", 1).target(),
                                         .is_chief = false,
                                         .stop_at_step = 6,
                                         .chief_timeout = timeout,
                                         .stop_at_signals = false};
    };
    CHECK_THROWS_WITH(monitored_session(worker(std::chrono::milliseconds(1))),
                      contains("the chief has not initialised") && contains("'w' on '/job:ps/task:0'"));
    std::thread other([&] { // before the chief
        const graph_scope same(g);
        monitored_session m(worker(std::chrono::seconds(20)));
        while (!m.should_stop()) m.run(train);
    });
    monitored_session m({.target = all.at("worker", 0).target(), .stop_at_step = 6});
    while (!m.should_stop()) m.run(train);
    other.join();
    CHECK(m.session().run(global_step) == 6);
    CHECK(m.session().run(w)(0) == 1.f / 64); // each step halves it
}

TEST_CASE("monitored_session: a worker whose input ends lets the others end, too") {
    local_cluster all({{"ps", 1}, {"worker", 2}});
    std::array<std::int64_t, 2> ended{};
    in_threads(2, [&](int task) {
        const graph g;
        const graph_scope here(g);
        const device_scope on(
            replica_device_setter(all.spec(), {.worker = "/job:worker/task:" + std::to_string(task)}));
        const variable<std::int64_t> global_step = get_or_create_global_step();
        const variable<float> w("w", 0.f);
        const variable<int> next("next" + std::to_string(task), 0, {.trainable = false, .local = true});
        const tensor<float> x(cast<float>(next.count_up_to(task == 0 ? 5 : 3)));
        const operation train =
            sync_replicas(gradient_descent(0.5f), {.replicas_to_aggregate = 2}).minimize(square(w - x), global_step);
        monitored_session m(
            {.target = all.at("worker", task).target(), .is_chief = task == 0, .stop_at_signals = false});
        while (!m.should_stop()) m.run(train);
        ended[static_cast<std::size_t>(task)] = m.session().run(global_step);
    });
    CHECK(ended == std::array<std::int64_t, 2>{3, 3});
}

TEST_CASE("monitored_session: goes on from the last checkpoint after a server was lost") {
    const io_test::temporary_directory here;
    local_cluster all({{"ps", 2}, {"worker", 1}});
    const graph g;
    const graph_scope use(g);
    const device_scope on(replica_device_setter(all.spec()));
    const variable<std::int64_t> global_step = get_or_create_global_step();
    const variable<float> a("a", 1.f), b("b", 1.f);
    const operation train = sync_replicas(gradient_descent(0.25f)).minimize(a * a + b * b, global_step);
    monitored_session m({.target = all.at("worker", 0).target(), .checkpoint_dir = here / "run", .save_steps = 1});
    for (int i = 0; i < 3; ++i) m.run(train);
    all.kill("ps", 1);
    all.restart("ps", 1);
    m.run(train); // opens another session first
    const auto steps = m.global_step();
    CHECK((steps >= 2 && steps <= 4)); // the checkpoint of the last step may not have been complete
    const auto [at, bt] = m.session().run(std::tuple(a, b));
    CHECK(at == std::pow(0.5f, static_cast<float>(steps)));
    CHECK(bt == at);
    all.kill("ps", 0);
    all.restart("ps", 0);
    const auto now = m.global_step(); // opens another session first
    CHECK((now >= 1 && now <= steps));
    m.run(train);
    CHECK(m.global_step() == now + 1);
}

} // namespace test_distributed_training
