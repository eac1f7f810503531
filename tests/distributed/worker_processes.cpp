// SPDX-License-Identifier: BSD-3-Clause
// Training by workers in processes of their own. One is killed while its gradient is awaited, some take a random time for their steps, and
// some reach the parameter server by a network that loses messages. RILL_ROUNDS says how many workers are killed, RILL_STEPS how many steps
// of a random length are trained, RILL_ADDS how many updates cross the lossy network. The test program starts itself.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/minimum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/train/bounded_staleness.hpp>
#include <rill/train/global_step.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>
#include <rill/train/replica_device_setter.hpp>
#include <rill/train/sync_replicas.hpp>

#include "../../examples/child_process.hpp"
#include "catch.hpp"
#include "distributed/eventually.hpp"
#include "io/temporary.hpp"
#include "seeds.hpp"
#include "train/replicas.hpp"

#if RILL_WITH_ZMQ && defined(__linux__)
#include "distributed/lossy_net.hpp"
#include "distributed/tcp_relay.hpp"
#include "distributed/watchdog.hpp"

using namespace rill;

namespace test_worker_processes {

using namespace std::chrono_literals;
using replica_test::in_threads;

constexpr auto patience = 100s;              // for a call that must not wait for ever
constexpr float rate = 1.f / 1024;           // sums of it are exact
constexpr auto on_server = "/job:ps/task:0"; // where the variables lie

/// The place of a process in a test, and what the test tells it.
struct role {
    std::string job;
    int task = 0;
    int life = 1;            // counts the processes that have been this task
    std::uint64_t seed = 0;  // of random delays and losses
    std::int64_t number = 0; // of gradients in a round, of steps, or of updates
    std::string directory;   // of files that all processes see
    std::vector<std::string> at;

    cluster_spec cluster() const { return {{"ps", {at[0]}}, {"worker", {at.begin() + 1, at.end()}}}; }
    std::string device() const { return "/job:" + job + "/task:" + std::to_string(task); }

    /// Tells the other processes that something has come about.
    void tell(const std::string& what) const { std::ofstream(directory + "/" + what) << '\n'; }
    /// Waits until a process has told that something has come about. Returns false if none does.
    bool is_told(const std::string& what) const {
        return eventually([&] { return std::filesystem::exists(directory + "/" + what); }, patience);
    }

    std::string text() const {
        std::ostringstream to;
        to << job << ' ' << task << ' ' << life << ' ' << seed << ' ' << number << ' ' << directory;
        for (const auto& a : at) to << ' ' << a;
        return to.str();
    }
    static std::optional<role> of_environment() {
        const char* const text = std::getenv("RILL_WORKER_ROLE");
        if (!text) return {};
        role r;
        std::istringstream in(text);
        in >> r.job >> r.task >> r.life >> r.seed >> r.number >> r.directory;
        for (std::string a; in >> a;) r.at.push_back(a);
        return r;
    }
};

/// Returns an address that no earlier server of this process's tests had: the client of such a server would expect that one's incarnation.
std::string fresh_address() {
    static std::set<std::string> used;
    for (;;) {
        auto at = free_addresses(1)[0];
        if (used.insert(at).second) return at;
    }
}

/// A parameter server and workers, each a process. This process is their client.
struct processes {
    /// Starts the server. Both names are those of hidden tests.
    processes(std::string server_test, std::string worker_test, int workers, std::uint64_t seed, std::int64_t number)
        : work(std::move(worker_test)), all(static_cast<std::size_t>(workers)) {
        common = {"ps", 0, 1, seed, number, files.path(), {fresh_address()}};
        for (int k = 0; k < workers; ++k) common.at.push_back("ipc://" + files / ("worker" + std::to_string(k)));
        server = started(server_test, common);
    }
    void start(int task, int life = 1) {
        auto r = common;
        r.job = "worker";
        r.task = task;
        r.life = life;
        all[static_cast<std::size_t>(task)] = started(work, r);
    }
    child_process& worker(int task) { return *all[static_cast<std::size_t>(task)]; }
    session_options options() const { return {.target = "tcp://" + common.at[0]}; }

    static std::unique_ptr<child_process> started(const std::string& test, const role& r) {
        return std::make_unique<child_process>(
            "/proc/self/exe", std::vector<std::string>{test},
            std::vector<std::pair<std::string, std::string>>{{"RILL_WORKER_ROLE", r.text()}});
    }

    const std::string work;
    const io_test::temporary_directory files;
    role common;
    std::unique_ptr<child_process> server;
    std::vector<std::unique_ptr<child_process>> all;
};

constexpr auto plain_server = "worker processes: a parameter server";

TEST_CASE("worker processes: a parameter server", "[.]") {
    const auto here = role::of_environment();
    if (!here) return;
    server node(here->cluster(), "ps", 0);
    node.join();
}

/// A queue on a worker. A step waits for an element of it, which another step brings.
struct gate {
    explicit gate(const std::string& device) : gate(device_scope(device)) {}

    fifo_queue<tensor<float>> queue;
    operation opens = queue.enqueue(1.f);
    tensor<float> passed = queue.dequeue(); // 1

private:
    explicit gate(const device_scope&) {}
};

// ---- a synchronous worker that dies --------------------------------------------------------------------------------------

constexpr int replicas = 3, victim = 2;
constexpr std::int64_t fatal_step = 3, last_step = 7;

/// The state that the replicas train: a weight, whose gradient is 1.
struct trained {
    variable<float> w{"w", 0.f};
    variable<std::int64_t> step = get_or_create_global_step();
};

/// Returns the node of an op in a graph.
const node* node_of(const graph& g, const std::string& op) {
    const auto all = g.nodes();
    return *std::ranges::find_if(all, [&](const node* n) { return n->op->name() == op; });
}

/// A synchronous worker. Its gradients are computed once its gate is open.
struct sync_worker {
    explicit sync_worker(const role& r)
        : here(r), node(r.cluster(), "worker", r.task), turn(r.device()), begun(r.device()),
          on(replica_device_setter(r.cluster(), {.worker = r.device()})) {
        const sync_replicas_options how{.replicas_to_aggregate = static_cast<int>(r.number),
                                        .total_replicas = replicas};
        train = sync_replicas(gradient_descent(rate), how).minimize(model.w * turn.passed, model.step);
        const control_dependencies after(operation(node_of(g, "RoundBegin")));
        takes_part = begun.queue.enqueue(1.f);
    }
    void run_once(const session& at, const run_options& how = {.timeout = patience}) const {
        at.run(std::tuple(train, turn.opens), how);
    }
    void run_until(std::int64_t last) const {
        while (s.run(model.step, {.timeout = patience}) < last) run_once(s);
    }
    /// Takes part in a round, and dies before it has a gradient.
    void die() const {
        in_threads(2, [&](int k) {
            if (k == 0) {
                s.run(std::tuple(train, takes_part), {.timeout = patience}); // the gate is closed
            } else {
                s.run(begun.passed, {.timeout = patience}); // the step has got its round from the server
                std::raise(SIGKILL);
            }
        });
    }
    /// Runs a step that ends since the victim is dead, and checks the error.
    void run_in_vain(const session& at, const run_options& how) const {
        const auto begin = std::chrono::steady_clock::now();
        try {
            run_once(at, how);
            FAIL_CHECK("the step has a gradient of a dead worker");
        } catch (const deadline_exceeded& e) {
            CHECK_THAT(e.what(), contains("replica 2 has not arrived") || contains(" and 2 have not arrived"));
        }
        CHECK(std::chrono::steady_clock::now() - begin < 5s);
    }

    const role here;
    const server node;
    const graph g;
    const graph_scope use{g};
    const gate turn, begun;
    const device_scope on;
    const trained model;
    operation train, takes_part;
    const session s{{.target = node.target()}};
};

TEST_CASE("worker processes: a synchronous worker", "[.]") {
    const auto here = role::of_environment();
    if (!here) return;
    const sync_worker w(*here);
    const bool has_backup = here->number < replicas;
    if (here->life > 1) return w.run_until(last_step);
    w.run_until(fatal_step);
    if (here->task == victim) return w.die();
    if (has_backup || here->task == 1) CHECK(here->is_told("death"));
    if (!has_backup && here->task == 0) w.run_in_vain(w.s, {.timeout = 2s}); // perhaps it waits when the victim dies
    if (!has_backup && here->task == 1)
        w.run_in_vain(session{{.target = w.node.target(), .progress_timeout = 2s}}, {.timeout = patience});
    here->tell("error of " + std::to_string(here->task));
    w.run_until(last_step);
}

/// Kills a worker in a round that needs so many gradients.
void kill_in_round(int aggregated) {
    INFO(aggregated << " of " << replicas << " gradients");
    const watchdog here("training of which a worker dies", 4 * patience);
    processes all(plain_server, "worker processes: a synchronous worker", replicas, 0, aggregated);
    const graph g;
    const graph_scope use(g);
    const device_scope on(on_server);
    const trained model;
    const session s(all.options());
    s.run(global_variables_initializer(), {.timeout = patience});
    for (int k = 0; k < replicas; ++k) all.start(k);
    CHECK(all.worker(victim).wait() == -1); // killed
    all.common.tell("death");
    if (aggregated == replicas) { // the others go on with the next life of the worker
        for (const int k : {0, 1}) REQUIRE(all.common.is_told("error of " + std::to_string(k)));
        CHECK(s.run(model.step, {.timeout = patience}) == fatal_step);
        all.start(victim, 2);
        CHECK(all.worker(victim).wait() == 0);
    }
    for (const int k : {0, 1}) CHECK(all.worker(k).wait() == 0);
    CHECK(s.run(model.step, {.timeout = patience}) == last_step);
    CHECK(s.run(model.w, {.timeout = patience}) == -rate * static_cast<float>(last_step)); // no step has run twice
}

TEST_CASE("worker processes: G8: a worker that dies in a round is named to the others, or they go on without it") {
    for (auto left = seeds::from_environment("RILL_ROUNDS", 1); left > 0; --left)
        for (const int aggregated : {replicas, replicas - 1}) kill_in_round(aggregated);
}

// ---- asynchronous workers of random speed ---------------------------------------------------------------------------------

constexpr int runners = 4, bound = 3;

/// A weight, whose gradient is 1, and for each worker the steps that it has done and the most that it was ahead of the slowest one.
struct counters {
    counters() {
        for (int k = 0; k < runners; ++k) {
            done.push_back(counter("done", k));
            lead.push_back(counter("lead", k));
        }
    }
    static variable<std::int64_t> counter(const std::string& name, int k) {
        return {name + std::to_string(k), 0, {.trainable = false}};
    }
    /// Returns an operation that notes how far worker k is ahead.
    operation note_lead(std::size_t k) const {
        tensor<std::int64_t> slowest = done[0];
        for (const auto& d : done) slowest = tensor<std::int64_t>(minimum(slowest, d));
        return operation(lead[k].assign(maximum(lead[k], done[k] - slowest)));
    }

    variable<float> w{"w", 0.f};
    std::vector<variable<std::int64_t>> done, lead;
};

TEST_CASE("worker processes: a worker of random speed", "[.]") {
    const auto here = role::of_environment();
    if (!here) return;
    const auto own = static_cast<std::size_t>(here->task);
    const server node(here->cluster(), "worker", here->task);
    const graph g;
    const graph_scope use(g);
    const gate turn(here->device());
    const device_scope on(replica_device_setter(here->cluster(), {.worker = here->device()}));
    const counters c;
    const operation noted = [&] {
        const device_scope there(on_server);
        return c.note_lead(own);
    }();
    const auto by = bounded_staleness(gradient_descent(rate), {.bound = bound, .workers = runners});
    const operation train = [&] {
        const control_dependencies after(noted); // the step has begun
        return by.minimize(c.w * turn.passed, c.done[own]);
    }();
    const session s({.target = node.target()});
    const run_options how{.timeout = patience};
    if (own == 0) // the slowest at first: the others use all of the bound, and their next step waits
        for (std::size_t k = 1; k < runners; ++k)
            CHECK(eventually([&] { return s.run(c.done[k], how) > bound; }, patience));
    seeds::draws draws(here->seed * runners + own);
    std::size_t most = 0; // microseconds that a delay takes
    for (std::int64_t i = 0; i < here->number / runners; ++i) {
        if (i % 16 == 0) most = std::size_t(1) << draws(14); // workers are slow in turns
        const auto kind = draws(4);
        const auto delay = std::chrono::microseconds(draws(most));
        if (kind == 0) std::this_thread::sleep_for(delay);
        if (kind != 1) {
            s.run(std::tuple(train, turn.opens), how);
            continue;
        }
        in_threads(2, [&](int k) { // its gradient takes long
            if (k == 0) return s.run(train, how);
            std::this_thread::sleep_for(delay);
            s.run(turn.opens, how);
        });
    }
    s.run(by.leave(), how);
}

TEST_CASE("worker processes: G9: no worker of random speed is further ahead than the bound", "[random]") {
    seeds::each(1, [](std::uint64_t seed) {
        const auto steps = static_cast<std::int64_t>(seeds::from_environment("RILL_STEPS", 160)) / runners * runners;
        const watchdog here("training at random speed", patience + std::chrono::seconds(steps / 20));
        processes all(plain_server, "worker processes: a worker of random speed", runners, seed, steps);
        const graph g;
        const graph_scope use(g);
        const device_scope on(on_server);
        const counters c;
        const session s(all.options());
        const run_options how{.timeout = patience};
        s.run(global_variables_initializer(), how);
        for (int k = 0; k < runners; ++k) all.start(k);
        for (int k = 0; k < runners; ++k) CHECK(all.worker(k).wait() == 0);
        for (std::size_t k = 0; k < runners; ++k) {
            INFO("worker " << k);
            CHECK(s.run(c.done[k], how) == steps / runners);
            const auto lead = s.run(c.lead[k], how);
            CHECK(lead <= bound);
            if (k > 0) CHECK(lead == bound); // before the first step of worker 0
        }
        CHECK(s.run(c.w, how) == -rate * static_cast<float>(steps)); // each update counts once
    });
}

// ---- updates over a lossy network -------------------------------------------------------------------------------------------

constexpr int clients = 4, threads = 32; // updates of a client that are under way

/// A variable with an element for each update.
struct added_elements {
    explicit added_elements(std::int64_t count) : ones("ones", dims{count}, zeros()) {}

    variable<float, dyn> ones;
    placeholder<int, 1> which{"which"};
    operation add{ones.scatter_add(which, constant({1.f}))};
};

TEST_CASE("worker processes: a parameter server whose answers get lost", "[.]") {
    const auto here = role::of_environment();
    if (!here) return;
    server node(here->cluster(), "ps", 0, {.net = std::make_shared<lossy_net>(here->seed, 10)});
    node.join();
}

TEST_CASE("worker processes: a client by connections that are cut", "[.]") {
    const auto here = role::of_environment();
    if (!here) return;
    const auto net =
        std::make_shared<relayed_net>(here->seed * clients + static_cast<std::uint64_t>(here->task), 64'000);
    const server node(here->cluster(), "worker", here->task, {.net = net});
    const graph g;
    const graph_scope use(g);
    const device_scope on(on_server);
    const added_elements all(here->number);
    const session s({.target = node.target()});
    std::vector<std::vector<std::int64_t>> unknown(threads);
    in_threads(threads, [&](int k) {
        const auto own = here->task * threads + k;
        seeds::draws draws(here->seed * clients * threads + static_cast<std::uint64_t>(own));
        for (std::int64_t i = own; i < here->number; i += clients * threads) {
            const bool hurries = draws(50) == 0; // gives up early
            try {
                s.run(all.add, feed(all.which, std::vector<int>{static_cast<int>(i)}),
                      {.timeout = hurries ? std::chrono::milliseconds(1 + draws(10)) : patience});
            } catch (const deadline_exceeded&) {
                if (!hurries) throw;
                unknown[static_cast<std::size_t>(k)].push_back(i);
            }
        }
    });
    CHECK(net->cuts() > 0);
    std::ofstream to(here->directory + "/unknown" + std::to_string(here->task));
    for (const auto& of_thread : unknown)
        for (const auto i : of_thread) to << i << '\n';
}

TEST_CASE("worker processes: G6: over a network that loses answers and connections every update counts once",
          "[random]") {
    seeds::each(1, [](std::uint64_t seed) {
        const auto count = static_cast<std::int64_t>(seeds::from_environment("RILL_ADDS", 800));
        const watchdog here("updates over a lossy network", 2 * patience + std::chrono::seconds(count / 20));
        processes all("worker processes: a parameter server whose answers get lost",
                      "worker processes: a client by connections that are cut", clients, seed, count);
        const graph g;
        const graph_scope use(g);
        const device_scope on(on_server);
        const added_elements added(count);
        const session s(all.options());
        s.run(global_variables_initializer(), {.timeout = patience});
        for (int k = 0; k < clients; ++k) all.start(k);
        for (int k = 0; k < clients; ++k) CHECK(all.worker(k).wait() == 0);
        std::vector<bool> is_unknown(static_cast<std::size_t>(count));
        for (int k = 0; k < clients; ++k) {
            std::ifstream in(all.files / ("unknown" + std::to_string(k)));
            REQUIRE(in);
            for (std::size_t i = 0; in >> i;) is_unknown.at(i) = true;
        }
        const auto ones = s.run(added.ones, {.timeout = patience});
        REQUIRE(static_cast<std::int64_t>(ones.size()) == count);
        std::int64_t lost = 0, repeated = 0, partial = 0;
        for (std::size_t i = 0; i < is_unknown.size(); ++i) {
            repeated += ones(i) > 1;
            partial += ones(i) != 0 && ones(i) < 1;
            lost += ones(i) == 0 && !is_unknown[i];
        }
        CHECK(lost == 0); // updates that were acknowledged
        CHECK(repeated == 0);
        CHECK(partial == 0);
    });
}

} // namespace test_worker_processes
#endif
