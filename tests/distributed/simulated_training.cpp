// SPDX-License-Identifier: BSD-3-Clause
// Synchronous training in a simulated cluster whose tasks are killed: parameter servers, the chief and another worker. Whatever dies, and
// when, the weights of each step are those of one process, to the last bit.
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

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
    }
    virtual_thread client;
    const std::string target;
    std::shared_ptr<rill::detail::channel> to;
};

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
        monitored_session s({.target = self.target,
                             .is_chief = k == 0,
                             .checkpoint_dir = files / "run",
                             .stop_at_step = steps,
                             .save_steps = 3,
                             .log_steps = 0,
                             .stop_at_signals = false,
                             .session = {.environment = &self.client}});
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

    /// Kills a task, and starts it again after some time.
    void kill(std::size_t which) {
        if (reached >= steps - 1) return; // who has come to the end would not take part again
        const bool is_server = which < 2;
        const int task = static_cast<int>(which % 2);
        const auto* const job = is_server ? "ps" : "worker";
        if (!all.servers.contains({job, task})) return; // it is dead
        ++kills[which];
        all.kill(job, task);
        if (!is_server) processes[which - 2].reset();
        all.world.after(std::chrono::milliseconds(all.world.draws(4000) + 1), [this, over = is_over, job, task, is_server] {
            if (*over) return;
            all.start(job, task);
            if (!is_server) start(task);
        });
    }

    bool run(int faults) {
        for (int i = 0; i < faults; ++i)
            all.world.after(std::chrono::milliseconds(all.world.draws(8000)),
                            [this, over = is_over] {
                                if (!*over) kill(all.world.draws(4));
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
    std::array<std::size_t, 4> kills{}; // the parameter servers, the chief, the other worker
    std::array<std::atomic<bool>, workers> ended{};
    std::optional<weights> found;
    std::array<std::unique_ptr<worker_process>, workers> processes; // destroyed first
};

TEST_CASE("simulated training: whichever tasks die, the weights are those of one process", "[random]") {
    const auto wanted = alone(steps);
    std::array<std::size_t, 4> kills{};
    seeds::each(6, [&](std::uint64_t seed) {
        training t(seed);
        REQUIRE(t.run(seed % 3 == 0 ? 0 : static_cast<int>(seed % 3) + 1));
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

} // namespace test_simulated_training
