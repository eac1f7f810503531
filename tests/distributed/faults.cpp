// SPDX-License-Identifier: BSD-3-Clause
// Synchronous training by processes that are killed and frozen at random moments: two parameter servers, the chief and another worker. The
// weights at the end are those of one process, to the last bit. RILL_KILLS says how many faults, RILL_QUIET_STEPS how many steps are trained
// after them to see whether memory grows. The test program starts itself.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/train/monitored_session.hpp>
#include <rill/train/replica_device_setter.hpp>
#include <rill/train/sync_replicas.hpp>

#include "../../examples/child_process.hpp"
#include "catch.hpp"
#include "distributed/eventually.hpp"
#include "distributed/line_training.hpp"
#include "io/temporary.hpp"
#include "seeds.hpp"

#if RILL_WITH_ZMQ && defined(__linux__)
using namespace rill;

namespace test_faults {

using namespace std::chrono_literals;
using namespace line_training;

constexpr int servers = 2;
constexpr std::int64_t save_steps = 5;
constexpr health_options fast{.heartbeat = 50ms, .slow = 300ms, .suspect = 600ms, .dead = 1200ms, .connect = 20s};

/// Returns the KiB of memory that a process has.
std::int64_t memory_of(const child_process& process) {
    std::ifstream in("/proc/" + std::to_string(process.id()) + "/statm");
    std::int64_t all = 0, resident = 0;
    in >> all >> resident;
    return resident * 4;
}

/// What the processes of a test share: the addresses, and files in a directory. The chief writes its progress there, and the test says at
/// which step all workers stop.
struct shared_place {
    std::string directory, job;
    int task = 0;
    std::vector<std::string> at;

    cluster_spec cluster() const {
        return {{"ps", {at.begin(), at.begin() + servers}}, {"worker", {at.begin() + servers, at.end()}}};
    }
    std::int64_t last_step() const {
        std::int64_t last = 0;
        std::ifstream(directory + "/last_step") >> last;
        return last;
    }
    static std::optional<shared_place> of_environment() {
        const char *const directory = std::getenv("RILL_FAULTS_IN"), *const who = std::getenv("RILL_FAULTS_TASK"),
                   *const at = std::getenv("RILL_FAULTS_AT");
        if (!directory || !who || !at) return {};
        shared_place p{directory, {}, 0, {}};
        std::istringstream(who) >> p.job >> p.task;
        std::istringstream addresses(at);
        for (std::string a; addresses >> a;) p.at.push_back(a);
        return p;
    }
};

/// Writes the step at which each session opens, and each step after that.
struct progress_hook final : session_hook {
    explicit progress_hook(const std::string& directory) : to(directory + "/progress", std::ios::app) {}
    void after_create_session(const session& s) override { to << "open " << global_step_of(s) << std::endl; }
    void after_run(const step_info& info, const std::vector<any_array>&) override {
        to << "step " << info.step() << std::endl;
    }
    std::ofstream to;
};

void train(const shared_place& here) {
    const auto cluster = here.cluster();
    const server node(cluster, "worker", here.task, {.health = fast});
    const graph g;
    const graph_scope use(g);
    const device_scope on(replica_device_setter(cluster, {.worker = "/job:worker/task:" + std::to_string(here.task)}));
    const model m;
    const operation step =
        sync_replicas(adam(0.05f), {.replicas_to_aggregate = workers}).minimize(m.loss(here.task), m.step);
    std::vector<hook_ptr> hooks;
    if (here.task == 0) hooks.push_back(std::make_shared<progress_hook>(here.directory));
    monitored_session s({.target = node.target(),
                         .is_chief = here.task == 0,
                         .checkpoint_dir = here.directory + "/checkpoints",
                         .hooks = hooks,
                         .chief_timeout = 60s,
                         .save_steps = save_steps,
                         .log_steps = 0,
                         .session = {.progress_timeout = 60s}});
    for (;;) {
        const auto last = here.last_step();
        if (last > 0 && s.global_step() >= last) break;
        std::this_thread::sleep_for(5ms); // so long a step computes
        s.run(step);
    }
    if (here.task != 0) return;
    const auto [at, w, b] = values_of(s.session(), m);
    std::ofstream to(here.directory + "/result.part", std::ios::binary);
    const std::array<float, 3> all{w(0), w(1), b};
    to.write(reinterpret_cast<const char*>(&at), sizeof at);
    to.write(reinterpret_cast<const char*>(all.data()), sizeof all);
    to.close();
    std::filesystem::rename(here.directory + "/result.part", here.directory + "/result");
}

TEST_CASE("faults: a task of the other test", "[.]") {
    const auto here = shared_place::of_environment();
    if (!here) return;
    if (here->job == "worker") return train(*here);
    server node(here->cluster(), "ps", here->task, {.health = fast});
    node.join();
}

/// What the chief has written.
struct progress {
    explicit progress(const std::string& directory) {
        std::ifstream in(directory + "/progress");
        std::int64_t before = -1;
        for (std::string word; in >> word;) {
            std::int64_t at = 0;
            in >> at;
            if (word == "open") {
                if (before >= 0) most_lost = std::max(most_lost, before - at);
                ++sessions;
            } else {
                is_monotone = is_monotone && at >= before; // equal: its gradients came too late
                last = std::max(last, at);
            }
            before = at;
        }
    }
    std::int64_t last = 0, most_lost = 0; // steps
    int sessions = 0;
    bool is_monotone = true; // steps only grow while a session lives
};

/// Runs the processes, and does them harm.
struct driver {
    explicit driver(std::uint64_t seed) : draws(seed) {
        for (std::size_t i = 0; i < at.size(); ++i) start(i);
    }
    void start(std::size_t i) {
        const bool is_server = i < servers;
        std::string addresses;
        for (const auto& a : at) addresses += a + " ";
        all[i] = std::make_unique<child_process>(
            "/proc/self/exe", std::vector<std::string>{"faults: a task of the other test"},
            std::vector<std::pair<std::string, std::string>>{
                {"RILL_FAULTS_IN", files.path()},
                {"RILL_FAULTS_TASK", (is_server ? "ps " : "worker ") + std::to_string(i % servers)},
                {"RILL_FAULTS_AT", addresses}});
    }
    void pause(std::size_t most) { std::this_thread::sleep_for(std::chrono::milliseconds(draws(most) + 1)); }
    /// Kills a process, or two at once, or lets one stand still until the others give it up.
    void harm(std::size_t which) {
        const auto kind = draws(6);
        ++harmed[which];
        if (kind == 0) {
            all[which]->freeze();
            std::this_thread::sleep_for(1500ms);
            all[which]->thaw();
            return;
        }
        const auto second = (which + 1 + draws(at.size() - 1)) % at.size();
        all[which]->end();
        if (kind == 1) all[second]->end();
        pause(300);
        start(which);
        if (kind == 1) start(second);
    }
    /// Waits until the chief has come so much further than the last time.
    bool awaits_progress(std::int64_t more) {
        if (!eventually([&] { return progress(files.path()).last >= seen + more; }, 100s)) return false;
        seen = progress(files.path()).last;
        return true;
    }
    /// Lets the processes train without harm, and returns the KiB by which the memory of one of them has grown most. What comes before, a
    /// quarter of the steps, does not count: pools and tables fill then.
    std::int64_t growth_in(std::int64_t steps) {
        std::vector<std::int64_t> before;
        std::int64_t most = 0;
        for (std::int64_t done = 0; done < steps; done += 100) {
            if (!awaits_progress(100)) throw std::runtime_error("training stands still without a fault");
            if (before.empty() && 4 * (done + 100) >= steps)
                for (const auto& p : all) before.push_back(memory_of(*p));
        }
        for (std::size_t i = 0; i < before.size(); ++i) {
            const auto now = memory_of(*all[i]);
            if (now == 0) throw std::runtime_error("a process has ended");
            most = std::max(most, now - before[i]);
        }
        return most;
    }
    void finish() const {
        std::ofstream(files / "last_step.part") << progress(files.path()).last + 40 << '\n';
        std::filesystem::rename(files / "last_step.part", files / "last_step");
    }

    seeds::draws draws;
    const io_test::temporary_directory files;
    const std::vector<std::string> at = free_addresses(servers + workers);
    std::array<std::unique_ptr<child_process>, servers + workers> all;
    std::array<int, servers + workers> harmed{};
    std::int64_t seen = 0;
};

TEST_CASE("faults: processes that are killed and frozen, and the weights of one process", "[random]") {
    seeds::each(1, [&](std::uint64_t seed) {
        driver d(seed);
        const auto kills = seeds::from_environment("RILL_KILLS", 4); // one for each process
        std::vector<std::size_t> order;
        for (std::uint64_t k = 0; k < kills; ++k) {
            INFO("fault " << k);
            REQUIRE(d.awaits_progress(1)); // training goes on after the fault before
            d.pause(300);
            if (order.empty())
                for (std::size_t i = 0; i < d.at.size(); ++i) order.push_back(i);
            const auto next = d.draws(order.size());
            d.harm(order[next]);
            order.erase(order.begin() + static_cast<std::ptrdiff_t>(next));
        }
        REQUIRE(d.awaits_progress(1));
        if (const auto quiet = seeds::from_environment("RILL_QUIET_STEPS", 0))
            CHECK(d.growth_in(static_cast<std::int64_t>(quiet)) < 8 * 1024);
        d.finish();
        CHECK(d.all[servers + 1]->wait() == 0);
        CHECK(d.all[servers]->wait() == 0);

        const progress p(d.files.path());
        if (kills >= d.at.size())
            for (const int n : d.harmed) CHECK(n > 0); // each kind of task
        CHECK(p.is_monotone);
        CHECK(p.sessions > 1);
        CHECK(p.most_lost <= 2 * save_steps + 1); // the last checkpoint may not have been complete
        std::int64_t step = 0;
        std::array<float, 3> found{};
        std::ifstream in(d.files / "result", std::ios::binary);
        in.read(reinterpret_cast<char*>(&step), sizeof step);
        in.read(reinterpret_cast<char*>(found.data()), sizeof found);
        REQUIRE(in);
        const auto [wanted_step, w, b] = alone(step);
        CHECK(step > 40);
        CHECK(found == std::array<float, 3>{w(0), w(1), b});
    });
}

} // namespace test_faults
#endif
