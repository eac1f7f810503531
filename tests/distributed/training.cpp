// SPDX-License-Identifier: BSD-3-Clause
// Training by several tasks: sync_replicas and monitored_session across a cluster.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/state/partitioned_variable.hpp>
#include <rill/ops/collective/all_reduce.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/bounded_staleness.hpp>
#include <rill/train/global_step.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/monitored_session.hpp>
#include <rill/train/prefetched_parameters.hpp>
#include <rill/train/replica_device_setter.hpp>
#include <rill/train/sync_replicas.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"
#include "train/replicas.hpp"
#include "watched.hpp"

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

TEST_CASE("sync_replicas: a worker of a cluster that has waited too long says which replicas have not arrived") {
    local_cluster all({{"ps", 2}, {"worker", 3}});
    const graph g;
    const graph_scope here(g);
    const device_scope on(replica_device_setter(all.spec(), {.worker = "/job:worker/task:1"}));
    const variable<std::int64_t> global_step = get_or_create_global_step();
    const variable<float> a("a", 1.f), b("b", 1.f); // on both servers
    const operation train =
        sync_replicas(gradient_descent(0.25f), {.replicas_to_aggregate = 3}).minimize(a * a + b * b, global_step);
    const session s({.target = all.at("worker", 1).target()});
    s.run(global_variables_initializer());
    try {
        s.run(train, {.timeout = std::chrono::seconds(2)});
        FAIL_CHECK("it has not waited");
    } catch (const deadline_exceeded& e) {
        CHECK_THAT(e.what(), contains("round 0 has the gradients of 1 of 3 replicas; replicas 0 and 2 have not arrived"));
        CHECK_THAT(e.what(), contains("round_arrive', made at training.cpp:") && contains("/job:ps/replica:0/task:"));
    }
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

constexpr health_options fast{.heartbeat = std::chrono::milliseconds(20),
                              .slow = std::chrono::milliseconds(100),
                              .suspect = std::chrono::milliseconds(300),
                              .dead = std::chrono::milliseconds(1000),
                              .connect = std::chrono::milliseconds(5000),
                              .control = std::chrono::milliseconds(5000)};

/// A queue on a task, by which a step in one session tells another session that it has begun.
struct step_signal {
    explicit step_signal(const std::string& task) : on(task) {}
    device_scope on;
    fifo_queue<tensor<float>> queue{{.shared_name = "step_signal"}};
    operation tells = queue.enqueue(1.f);
    tensor<float> is_told = queue.dequeue();
};

TEST_CASE("all_reduce: a rank that dies fails the others' steps, and one that starts again takes its place") {
    local_cluster all({{"worker", 2}}, {.health = fast});
    const std::vector<std::string> tasks{"/job:worker/task:0", "/job:worker/task:1"};
    struct rank {
        rank(local_cluster& in, const std::vector<std::string>& tasks, int number)
            : own(tasks[static_cast<std::size_t>(number)]),
              sum(all_reduce(x, collective_group({.name = "death", .ranks = 2, .rank = number, .tasks = tasks}))),
              begun(tasks[0]), s({.target = in.at("worker", number).target()}) {}
        float run(float value) const { return s.run(sum, feed(x, value), {.timeout = long_enough}); }
        void wait_for_other() const { s.run(begun.is_told, {.timeout = long_enough}); }
        graph g;
        graph_scope here{g};
        device_scope own;
        placeholder<float> x{"x"};
        tensor<float> sum;
        step_signal begun;
        session s;
    };
    const auto both = [&](const auto& f) { in_threads(2, f); };
    std::array<float, 2> sums{};
    std::string problem;
    both([&](int k) { // values meet at rank 0
        const rank own(all, tasks, k);
        sums[static_cast<std::size_t>(k)] = own.run(1.f + static_cast<float>(k));
        if (k == 1) {
            own.wait_for_other(); // rank 0 is in its second step
            all.kill("worker", 1);
            return;
        }
        const auto step = own.s.make_callable(std::tuple(own.sum, own.begun.tells), own.x); // the time is the step's alone
        try {
            step.with({.timeout = std::chrono::milliseconds(500)})(5.f);
        } catch (const error& e) { // no value of rank 1: this task waits for no task, but for a value
            problem = e.what();
        }
    });
    CHECK(sums == std::array<float, 2>{3.f, 3.f});
    CHECK_THAT(problem, contains("no value yet of rank 1"));
    all.restart("worker", 1);
    both([&](int k) {
        const rank own(all, tasks, k);
        sums[static_cast<std::size_t>(k)] = own.run(10.f * static_cast<float>(k + 1));
    });
    CHECK(sums == std::array<float, 2>{30.f, 30.f});
    in_threads(2, [&](int k) { // and where the task dies in which values meet
        const rank own(all, tasks, k);
        (void)own.run(1.f);
        if (k == 0) {
            own.wait_for_other();
            all.kill("worker", 0);
            return;
        }
        try {
            own.s.run(std::tuple(own.sum, own.begun.tells), feed(own.x, 5.f), {.timeout = long_enough});
        } catch (const unavailable& e) {
            problem = e.what();
        }
    });
    CHECK_THAT(problem, contains("/job:worker/replica:0/task:0"));
}

TEST_CASE("bounded_staleness: workers of a cluster, none of which is further ahead than the bound") {
    constexpr int workers = 3, bound = 2;
    local_cluster all({{"ps", 1}, {"worker", workers}});
    watched<std::array<int, workers>> done;
    std::atomic<bool> ready{false}, is_near{true}, goes_ahead{true};
    in_threads(workers, [&](int task) {
        const graph g;
        const graph_scope here(g);
        const device_scope on(
            replica_device_setter(all.spec(), {.worker = "/job:worker/task:" + std::to_string(task)}));
        const variable<float> w("w", 1.f);
        const variable<int> step("step", 0, {.trainable = false});
        const auto by = bounded_staleness(gradient_descent(0.01f), {.bound = bound, .workers = workers});
        const operation train = by.minimize(square(w), step);
        const session s({.target = all.at("worker", task).target()});
        if (task == 0) {
            s.run(global_variables_initializer());
            ready = true;
            ready.notify_all();
        }
        ready.wait(false);
        for (int i = 0; i < steps; ++i) {
            const auto is_ahead = [&](const auto& d) { return std::min(d[0], d[2]) >= std::min(i + bound, steps); };
            if (task == 1 && !done.comes(is_ahead)) goes_ahead = false; // the slowest: the others use all of the bound
            s.run(train, {.timeout = long_enough});
            int slowest = 0;
            done.change([&](auto& d) {
                d[static_cast<std::size_t>(task)] = i + 1;
                slowest = std::ranges::min(d);
            });
            // this worker's next step may be `bound` ahead of the one that the slowest begins
            if (i + 1 > slowest + bound + 1) is_near = false;
        }
        s.run(by.leave());
    });
    CHECK(is_near);
    CHECK(goes_ahead);
    const graph g;
    const graph_scope here(g);
    const device_scope there("/job:ps");
    const variable<int> step("step", 0, {.trainable = false});
    CHECK(session({.target = all.at("ps", 0).target()}).run(step) == workers * steps);
}

TEST_CASE("partitioned_variable: shards on several servers, from which rows cross and not the table") {
    constexpr index_t rows = 30'000, width = 16;
    constexpr std::size_t looked_up = 64;
    local_cluster all({{"ps", 3}, {"worker", 1}});
    const graph g;
    const graph_scope here(g);
    const device_scope on(replica_device_setter(all.spec()));
    const partitioned_variable<float, rows, width> table("table", 1.f, {.shards = 3});
    for (std::size_t k = 0; k < 3; ++k)
        CHECK(requested_device(*table.shards()[k].node()) == "/job:ps/task:" + std::to_string(k));
    const placeholder<int, dyn> ids("ids");
    const auto loss = reduce_sum(gather(table, ids));
    const auto train = gradient_descent(0.5f).minimize(loss);
    const session s({.target = all.at("worker", 0).target()});
    s.run(global_variables_initializer());
    std::vector<int> some;
    for (std::size_t i = 0; i < looked_up; ++i) some.push_back(static_cast<int>(i * 431 % rows));
    CHECK(s.run(loss, feed(ids, some)) == static_cast<float>(looked_up * width));
    s.run(train, feed(ids, some));
    const auto bytes = [&] {
        auto sum = all.at("worker", 0).bytes_sent();
        for (int k = 0; k < 3; ++k) sum += all.at("ps", k).bytes_sent();
        return sum;
    };
    const auto before = bytes();
    s.run(train, feed(ids, some));
    const auto crossed = bytes() - before;
    CHECK(crossed >= 2 * looked_up * width * sizeof(float)); // rows, and their gradients
    CHECK(crossed < 3 * looked_up * width * sizeof(float));  // with ids and places, and no table of 1.9 MB
    CHECK(s.run(loss, feed(ids, some)) == 0.f);               // each row has moved by -0.5 twice
}

TEST_CASE("prefetched_parameters: copies lie at the worker, whose steps compute before any server has answered") {
    const auto trained = [](bool copies) {
        local_cluster all({{"ps", 2}, {"worker", 1}});
        const graph g;
        const graph_scope here(g);
        const device_scope on(replica_device_setter(all.spec(), {.worker = "/job:worker/task:0"}));
        const variable<float, 2> w("w", {0.5f, -0.25f});
        const variable<float> b("b", 0.f);
        const variable<int> step("step", 0, {.trainable = false});
        const placeholder<float, 2> x("x");
        prefetched_parameters near;
        const tensor<float, 2> weights = copies ? near(w) : tensor<float, 2>(w);
        const tensor<float> bias = copies ? near(b) : tensor<float>(b);
        const tensor<float, 2> value(weights * x + bias);
        const auto loss = reduce_mean(square(value - 1.f));
        const operation train =
            copies ? near.minimize(adam(0.1f), loss, step) : adam(0.1f).minimize(loss, step);
        const session s({.target = all.at("worker", 0).target()});
        s.run(global_variables_initializer());
        s.run(local_variables_initializer());
        for (int i = 0; i < 6; ++i) {
            const auto k = static_cast<float>(i);
            s.run(train, feed(x, xt::xtensor<float, 1>{k * 0.5f - 1.f, 2.f - k}));
        }
        CHECK(s.run(step) == 6);
        if (copies) {
            CHECK(requested_device(*w.node()) == "/job:ps/task:0");
            CHECK(requested_device(*weights.node()) == "/job:worker/task:0");
            CHECK((s.run(weights) == s.run(w))); // the copies are up to date
        }
        CHECK(s.partition({value}, {x}).size() == (copies ? 1u : 3u));
        const auto [wv, bv] = s.run(std::tuple(w, b));
        return std::vector<float>{wv(0), wv(1), bv};
    };
    CHECK(trained(true) == trained(false));
}

/// A weight on each of two servers, which one worker pulls to a value.
struct two_weights {
    explicit two_weights(local_cluster& all, int worker = 0) : s({.target = all.at("worker", worker).target()}) {}
    graph g;
    graph_scope here{g};
    device_scope on{replica_device_setter(cluster_spec{{"ps", {"a", "b"}}, {"worker", {"c", "d"}}})};
    variable<float> a{"a", 1.f}, b{"b", 1.f};
    placeholder<float> to{"to"};
    operation train = gradient_descent(0.5f).minimize(square(a - to) + square(b - to));
    session s;

    void initialise() const {
        const graph_scope use(g);
        s.run(global_variables_initializer());
    }
};

TEST_CASE("sessions of a cluster: one that restores variables keeps others out, and what they had prepared is stale") {
    local_cluster all({{"ps", 2}, {"worker", 2}});
    two_weights chief(all);
    chief.initialise();
    two_weights other(all, 1);
    other.s.run(other.train, feed(other.to, 3.f));
    CHECK(other.s.run(other.a) == 3.f);

    bool is_told = false;
    std::thread waits([&] { // a step that waits at a server ends, and is waited for
        const graph g;
        const graph_scope here(g);
        const device_scope on("/job:ps/task:0");
        const fifo_queue<tensor<float>> empty({.capacity = 1, .name = "empty"});
        const variable<float> a("a", 1.f);
        const step_signal begun("/job:ps/task:0");
        const control_dependencies after(begun.tells);
        const operation late = a.assign(empty.dequeue());
        const session s({.target = all.at("worker", 1).target()});
        try {
            s.run(late, {.timeout = long_enough});
        } catch (const aborted& e) {
            is_told = std::string(e.what()).find("restores or initialises") != std::string::npos;
        }
    });
    {
        const graph g;
        const graph_scope here(g);
        const step_signal begun("/job:ps/task:0");
        session({.target = all.at("worker", 0).target()}).run(begun.is_told, {.timeout = long_enough});
    }
    const auto core = detail::core_of(chief.s);
    const std::vector<const node*> variables{chief.a.node(), chief.b.node()};
    core->keep_others_out(variables);
    waits.join();
    CHECK(is_told);
    CHECK_THROWS_WITH(other.s.run(other.train, feed(other.to, 9.f)), contains("another session restores"));
    two_weights again(all, 1);
    CHECK_THROWS_AS(again.s.run(again.a), aborted); // a new one has to wait, too
    chief.initialise();
    core->let_others_in();
    CHECK(again.s.run(again.a) == 1.f);
    CHECK_THROWS_WITH(other.s.run(other.train, feed(other.to, 9.f)), contains("open another session"));
    again.s.run(again.train, feed(again.to, 5.f));
    CHECK(chief.s.run(chief.b) == 5.f);

    core->keep_others_out(variables); // a chief that never comes back: a reset lets others in
    session::reset(all.at("worker", 0).target());
    two_weights last(all, 1);
    CHECK_THROWS_AS(last.s.run(last.a), failed_precondition);
}

TEST_CASE("saver: queues and random numbers of all tasks of a cluster go on from a checkpoint") {
    const io_test::temporary_directory files;
    local_cluster all({{"ps", 1}, {"worker", 1}});
    const graph g;
    const graph_scope here(g);
    const variable<float> w = [] {
        const device_scope on("/job:ps");
        return variable<float>("w", 7.f);
    }();
    const auto queue = [] {
        const device_scope on("/job:ps");
        return fifo_queue<tensor<float>>({.capacity = 5, .name = "queue"});
    }();
    const auto next = queue.dequeue();
    const tensor<float, 4> noise = [] {
        const device_scope on("/job:worker");
        return tensor<float, 4>(random_uniform<float, 4>({.seed = 3}));
    }();
    const auto drawn = [&](const session& s) {
        const auto x = s.run(noise);
        return std::vector<float>(x.begin(), x.end());
    };
    std::vector<float> wanted;
    {
        const session s({.target = all.at("worker", 0).target()});
        s.run(global_variables_initializer());
        for (const float x : {1.f, 2.f, 3.f}) s.run(queue.enqueue(x));
        CHECK(s.run(next) == 1.f);
        (void)drawn(s);
        save(s, files / "run");
        wanted = drawn(s);
    }
    for (const auto* job : {"ps", "worker"}) {
        all.kill(job, 0);
        all.restart(job, 0);
    }
    const session s({.target = all.at("worker", 0).target()});
    load(s, files / "run");
    CHECK(s.run(w) == 7.f);
    CHECK(drawn(s) == wanted);
    CHECK(s.run(next) == 2.f);
    CHECK(s.run(next) == 3.f);
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

TEST_CASE("monitored_session: a chief that restores does not wait for a worker that has left") {
    const io_test::temporary_directory here;
    local_cluster all({{"ps", 2}, {"worker", 2}});
    std::atomic<int> left{0};
    in_threads(2, [&](int task) {
        const graph g;
        const graph_scope use(g);
        const device_scope on(
            replica_device_setter(all.spec(), {.worker = "/job:worker/task:" + std::to_string(task)}));
        const variable<std::int64_t> global_step = get_or_create_global_step();
        const variable<float> a("a", 1.f), b("b", 1.f);
        const operation train =
            sync_replicas(gradient_descent(0.25f), {.replicas_to_aggregate = 2}).minimize(a * a + b * b, global_step);
        monitored_session m({.target = all.at("worker", task).target(),
                             .is_chief = task == 0,
                             .checkpoint_dir = task == 0 ? here / "run" : std::string(),
                             .save_steps = 1,
                             .stop_at_signals = false,
                             .session = {.progress_timeout = std::chrono::seconds(30)}});
        for (int i = 0; i < 3; ++i) m.run(train);
        if (task == 1) {
            m.close();
            left = 1;
            left.notify_all();
            return;
        }
        left.wait(0);
        all.kill("ps", 1); // the round is at the other server
        all.restart("ps", 1);
        m.run(train); // opens another session first
        CHECK(m.should_stop());
        const auto steps = m.global_step();
        CHECK((steps == 2 || steps == 3)); // the checkpoint of the last step may not have been complete
    });
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
