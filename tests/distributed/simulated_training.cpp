// SPDX-License-Identifier: BSD-3-Clause
// Synchronous training in a simulated cluster whose tasks are killed, frozen and cut off: parameter servers, the chief and another worker.
// Whatever happens, and when, the weights of each step are those of one process, to the last bit.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/monitored_session.hpp>
#include <rill/train/replica_device_setter.hpp>
#include <rill/train/sync_replicas.hpp>

#include "catch.hpp"
#include "distributed/line_training.hpp"
#include "distributed/simulated_cluster.hpp"
#include "distributed/virtual_thread.hpp"
#include "io/temporary.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_simulated_training {

using namespace std::chrono_literals;
using simulator::virtual_cluster;
using simulator::virtual_thread;

using namespace line_training;

constexpr std::int64_t steps = 12;

/// A worker: a server, and a client that trains at it.
struct worker_process {
    worker_process(virtual_cluster& all, int number, const std::string& name, std::function<void(worker_process&)> run)
        : client(all.world, name), target("local://simulated/" + name) {
        to = std::make_shared<rill::detail::channel>(
            std::make_shared<simulator::simulated_net>(all.world, client.task), client,
            rill::detail::client_identity(client), all.spec.address({"worker", 0, number, "", -1}), "", health_options{});
        rill::detail::the_client_links().add(target, to);
        client.start([this, f = std::move(run)] { f(*this); });
    }
    ~worker_process() {
        client.kill();
        rill::detail::the_client_links().remove(target, to);
        to->close(std::make_exception_ptr(cancelled("the client is killed"))); // its calls hold it
    }
    virtual_thread client;
    const std::string target;
    std::shared_ptr<rill::detail::channel> to;
};

/// Returns the options of worker k, the chief if 0.
monitored_session_options options_of(worker_process& self, int k, const std::string& directory, std::int64_t last_step,
                                     std::int64_t save_steps) {
    return {.target = self.target,
            .is_chief = k == 0,
            .checkpoint_dir = directory,
            .stop_at_step = last_step,
            .save_steps = save_steps,
            .log_steps = 0,
            .stop_at_signals = false,
            .session = {.environment = &self.client}};
}

/// Trains a seed. Who dies, when, and for how long follows from it.
struct training {
    explicit training(std::uint64_t seed) : all(seed, {.reset_one_in = 200}) {
        for (int k = 0; k < workers; ++k) start(k);
    }
    ~training() { *is_over = true; } // what is still to start does not

    void start(int k) {
        const auto name = "client" + std::to_string(k) + "." + std::to_string(++lives);
        processes[static_cast<std::size_t>(k)] =
            std::make_unique<worker_process>(all, k, name, [this, k](worker_process& self) {
                train(self, k);
                ended[static_cast<std::size_t>(k)] = true;
            });
    }
    void train(worker_process& self, int k) {
        const graph g;
        const graph_scope here(g);
        const device_scope on(replica_device_setter(all.spec, {.worker = "/job:worker/task:" + std::to_string(k)}));
        const model m;
        const operation step =
            sync_replicas(adam(0.05f), {.replicas_to_aggregate = workers}).minimize(m.loss(k), m.step);
        monitored_session s(options_of(self, k, files / "run", steps, 3));
        std::int64_t last = 0;
        while (!s.should_stop()) {
            s.run(step);
            const auto now = s.global_step();
            if (now < last) ++went_back;
            last = now;
            reached = std::max(reached, now);
        }
        if (k == 0) found = values_of(s.session(), m);
    }

    /// Does harm to a task: kills it, or, if `kinds` is three, perhaps freezes it or cuts it off.
    void harm(std::size_t which, std::size_t kinds) {
        if (reached >= steps - 1) return; // who has come to the end would not take part again
        if (!all.servers.contains({job_of(which), task_of(which)})) return; // it is dead
        const auto kind = kinds == 1 ? 0 : all.world.draws(kinds);
        if (kind == 0) return kill(which);
        const auto lasts = std::chrono::milliseconds(all.world.draws(12000) + 1); // a peer is dead after 5 s
        if (kind == 1)
            freeze(which, lasts);
        else
            cut_off(which, lasts);
    }
    static const char* job_of(std::size_t which) { return which < 2 ? "ps" : "worker"; }
    static int task_of(std::size_t which) { return static_cast<int>(which % 2); }

    /// Lets all of a process stand still for some time: a worker's client stands still with its server.
    void freeze(std::size_t which, std::chrono::nanoseconds lasts) {
        ++freezes[which];
        std::vector<simulator::simulated_world::task*> frozen{all.tasks.at({job_of(which), task_of(which)})};
        if (which >= 2) frozen.push_back(&processes[which - 2]->client.task);
        for (auto* t : frozen) all.world.freeze(*t);
        all.world.after(lasts, [this, over = is_over, frozen] {
            if (*over) return;
            for (auto* t : frozen) all.world.thaw(*t);
        });
    }
    /// Cuts a task off from one of the others or from all of them, both ways or one way, for some time.
    void cut_off(std::size_t which, std::chrono::nanoseconds lasts) {
        ++cuts[which];
        const bool forth = all.world.draws(3) != 0, back = !forth || all.world.draws(2) != 0;
        const auto only = all.world.draws(8); // of those that are no task: all
        std::vector<std::pair<std::string, std::string>> ways;
        for (std::size_t other = 0; other < 4; ++other) {
            if (other == which || (only < 4 && only != which && other != only)) continue;
            const auto here = task_name(job_of(which), task_of(which));
            const auto there = task_name(job_of(other), task_of(other));
            if (forth) ways.emplace_back(here, there);
            if (back) ways.emplace_back(there, here);
        }
        for (const auto& [from, to] : ways) all.world.part_way(from, to, true);
        all.world.after(lasts, [this, over = is_over, ways] {
            if (*over) return;
            for (const auto& [from, to] : ways) all.world.part_way(from, to, false);
        });
    }
    /// Kills a task, and starts it again after some time.
    void kill(std::size_t which) {
        const bool is_server = which < 2;
        const int task = task_of(which);
        const auto* const job = job_of(which);
        ++kills[which];
        all.kill(job, task);
        if (!is_server) processes[which - 2].reset();
        all.world.after(std::chrono::milliseconds(all.world.draws(4000) + 1), [this, over = is_over, job, task, is_server] {
            if (*over) return;
            all.start(job, task);
            if (!is_server) start(task);
        });
    }

    bool run(int faults, std::size_t kinds) {
        for (int i = 0; i < faults; ++i)
            all.world.after(std::chrono::milliseconds(all.world.draws(8000)), [this, over = is_over, kinds] {
                if (!*over) harm(all.world.draws(4), kinds);
            });
        const auto end = all.world.time.now() + std::chrono::hours(1);
        while (!(ended[0] && ended[1]) && all.world.time.now() < end) {
            for (const auto& p : processes)
                if (p && p->client.is_over() && p->client.problem()) std::rethrow_exception(p->client.problem());
            if (!all.world.time.run_one()) break;
        }
        return ended[0] && ended[1];
    }

    const std::shared_ptr<bool> is_over = std::make_shared<bool>(false);
    const io_test::temporary_directory files;
    virtual_cluster all;
    int lives = 0, went_back = 0;
    std::int64_t reached = 0;
    std::array<std::size_t, 4> kills{}, freezes{}, cuts{}; // the parameter servers, the chief, the other worker
    std::array<std::atomic<bool>, workers> ended{};
    std::optional<weights> found;
    std::array<std::unique_ptr<worker_process>, workers> processes; // destroyed first
};

TEST_CASE("simulated training: whichever tasks die, the weights are those of one process", "[random]") {
    const auto wanted = alone(steps);
    std::array<std::size_t, 4> kills{};
    seeds::each(6, [&](std::uint64_t seed) {
        training t(seed);
        REQUIRE(t.run(seed % 3 == 0 ? 0 : static_cast<int>(seed % 3) + 1, 1));
        REQUIRE(t.found);
        CHECK(std::get<0>(*t.found) == steps);
        CHECK(*t.found == wanted);
        std::size_t all = 0;
        for (std::size_t i = 0; i < kills.size(); ++i) {
            kills[i] += t.kills[i];
            all += t.kills[i];
        }
        if (all == 0) CHECK(t.went_back == 0);
    });
    if (seeds::all())
        for (const auto n : kills) CHECK(n > 0); // each kind of task was killed
}

TEST_CASE("simulated training: G3, G5: whichever tasks are frozen or cut off, the weights are those of one process",
          "[random]") {
    const auto wanted = alone(steps);
    std::size_t freezes = 0, cuts = 0;
    seeds::each(8, [&](std::uint64_t seed) {
        training t(seed);
        REQUIRE(t.run(static_cast<int>(seed % 3) + 1, 3));
        REQUIRE(t.found);
        CHECK(*t.found == wanted);
        for (const auto n : t.freezes) freezes += n;
        for (const auto n : t.cuts) cuts += n;
    });
    if (seeds::all()) CHECK((freezes > 0 && cuts > 0));
}

/// The result of a training in which one worker of three may be slow.
struct straggled {
    std::vector<std::chrono::nanoseconds> times; // of the chief's steps
    std::int64_t dropped = 0;                    // gradients

    std::chrono::nanoseconds median() const {
        auto all = times;
        std::ranges::sort(all);
        return all.at(all.size() / 2);
    }
};

/// Trains by the gradients of so many of three workers. All that the last one does after its first step is late by `lag`.
straggled train_with_straggler(int aggregated, std::chrono::nanoseconds lag) {
    constexpr int count = 3;
    constexpr std::int64_t last_step = 60;
    const io_test::temporary_directory files;
    virtual_cluster all(11, {}, true, count);
    auto& time = all.world.time;
    straggled found;
    int ended = 0;
    bool is_late = false;
    std::vector<std::unique_ptr<worker_process>> processes;
    const auto train = [&](worker_process& self, int k) {
        const graph g;
        const graph_scope here(g);
        const device_scope on(replica_device_setter(all.spec, {.worker = "/job:worker/task:" + std::to_string(k)}));
        const model m;
        const auto sync = sync_replicas(adam(0.05f), {.replicas_to_aggregate = aggregated, .total_replicas = count});
        const operation step = sync.minimize(m.loss(k), m.step);
        const auto dropped = sync.num_dropped();
        monitored_session s(options_of(self, k, files / "run", last_step, 1000));
        while (!s.should_stop()) {
            const auto began = time.now() - time.busy();
            s.run(step);
            if (k == 0) found.times.push_back(time.now() - time.busy() - began);
            if (k == count - 1 && !std::exchange(is_late, true)) all.world.slow_down(*all.tasks.at({"worker", k}), lag);
        }
        if (k == 0) found.dropped = s.session().run(dropped);
    };
    for (int k = 0; k < count; ++k)
        processes.push_back(std::make_unique<worker_process>(all, k, "client" + std::to_string(k), [&, k](auto& self) {
            train(self, k);
            ++ended;
        }));
    const auto end = time.now() + std::chrono::hours(1);
    while (ended < count && time.now() < end) {
        for (const auto& p : processes)
            if (p->client.is_over() && p->client.problem()) std::rethrow_exception(p->client.problem());
        if (!time.run_one()) break;
    }
    CHECK(ended == count);
    return found;
}

TEST_CASE("simulated training: G7: with a backup, no step waits for a slow worker, whose gradients are dropped") {
    const auto lag = 100ms; // several times in a step, which otherwise takes some 60 ms: about ten times as slow
    const auto usual = train_with_straggler(2, 0ms), with_backup = train_with_straggler(2, lag),
               without = train_with_straggler(3, lag);
    CHECK(with_backup.median() < 2 * usual.median());
    CHECK(without.median() > 5 * with_backup.median());
    CHECK(with_backup.dropped > 0);
    CHECK(without.dropped == 0);
}

} // namespace test_simulated_training
