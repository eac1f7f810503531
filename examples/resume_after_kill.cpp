// SPDX-License-Identifier: BSD-3-Clause
// Training that survives its processes: a parameter server and two workers, the chief among them, learn handwriting in step. Each of them is
// killed once by SIGKILL at a random moment, in a random order, and started again. The chief restores the last checkpoint, and training goes on.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"
#include "handwriting.hpp"

using namespace rill;
using namespace handwriting;

namespace {

constexpr int steps = 300, workers = 2; // steps after the last kill
constexpr std::int64_t save_steps = 20;

/// The file that says that nobody is killed any more.
std::string sign_in(const std::string& directory) { return directory + "/at_peace"; }

/// Writes where the chief is: a line for each step, and one for each session that it opens.
struct progress_hook final : session_hook {
    explicit progress_hook(const std::string& directory) : to(directory + "/progress", std::ios::app) {}
    void after_create_session(const session& s) override { to << "opens " << global_step_of(s) << std::endl; }
    void after_run(const step_info& info, const std::vector<any_array>&) override {
        to << "step " << info.step() << std::endl;
    }
    std::ofstream to;
};

/// Returns the most steps that were lost at once: how far a session went back.
std::int64_t most_lost(const std::string& directory) {
    std::ifstream in(directory + "/progress");
    std::int64_t most = 0, before = 0, at = 0;
    for (std::string what; in >> what >> at; before = at)
        if (what == "opens") most = std::max(most, before - at);
    return most;
}

/// Trains as one of the workers, until the chief has made the last step. Returns the accuracy.
float train(const cluster_spec& cluster, int task, const std::string& directory) {
    const digits data;
    const server node(cluster, "worker", task);
    const graph g;
    const graph_scope use(g);
    const device_scope on(replica_device_setter(cluster, {.worker = "/job:worker/task:" + std::to_string(task)}));
    const digit_model m;
    const placeholder<float, dyn, 64> image("image");
    const placeholder<int, dyn> label("label");
    const auto loss = m.loss(image, label);
    const auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(m.logits(image)), label)));
    const auto update = sync_replicas(adam(2e-3f), {.replicas_to_aggregate = workers}).minimize(loss, m.step);
    std::vector<hook_ptr> hooks;
    if (task == 0) hooks.push_back(std::make_shared<progress_hook>(directory));
    monitored_session s({.target = node.target(),
                         .is_chief = task == 0,
                         .checkpoint_dir = directory + "/checkpoints",
                         .hooks = hooks,
                         .chief_timeout = std::chrono::seconds(60),
                         .save_steps = save_steps,
                         .log_steps = 0,
                         .session = {.progress_timeout = std::chrono::seconds(60)}});
    std::printf("  worker %d goes on from step %lld\n", task, static_cast<long long>(s.global_step()));
    std::fflush(stdout);
    std::int64_t last = 0; // 0: not known yet
    while (!s.should_stop()) {
        const auto b = data.batch_of(task, s.global_step());
        s.run(update, feed(image, b.images), feed(label, b.labels)); // ends the session once the chief has left
        if (task != 0) continue;
        if (last == 0 && std::filesystem::exists(sign_in(directory))) last = s.global_step() + steps;
        if (last > 0 && s.global_step() >= last) s.request_stop();
    }
    const auto test = data.test();
    return s.session().run(accuracy, feed(image, test.images), feed(label, test.labels));
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    if (argc > 4) { // a process that is started below: its job, its task, the directory, and the addresses of all
        const cluster_spec cluster{{"ps", {argv[4]}}, {"worker", {argv + 5, argv + argc}}};
        const int task = std::atoi(argv[2]);
        if (std::string(argv[1]) == "ps") {
            server node(cluster, "ps", task);
            node.join();
            return 0;
        }
        const float accuracy = train(cluster, task, argv[3]);
        std::printf("  worker %d has come to the end, accuracy %.3f\n", task, static_cast<double>(accuracy));
        return accuracy >= 0.93f ? 0 : 1;
    }
    const std::string directory = "resume_after_kill_run";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directory(directory);
    const auto at = free_addresses(1 + workers);
    const auto start = [&](int number) { // 0: the parameter server
        return number == 0 ? start_task(argv[0], {"ps", "0", directory}, at)
                           : start_task(argv[0], {"worker", std::to_string(number - 1), directory}, at);
    };
    std::vector<std::unique_ptr<child_process>> all;
    for (int i = 0; i <= workers; ++i) all.push_back(start(i));
    std::mt19937 random(static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count()));
    std::vector<std::size_t> order{0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    for (const auto which : order) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500 + random() % 1000));
        std::printf("%s is killed\n", which == 0 ? "the parameter server" : which == 1 ? "the chief" : "worker 1");
        std::fflush(stdout);
        all[which]->end();
        all[which] = start(static_cast<int>(which));
    }
    std::ofstream(sign_in(directory)) << "all of them\n";
    for (int i = 1; i <= workers; ++i)
        expect(all[static_cast<std::size_t>(i)]->wait() == 0, "every worker comes to the end, and reads handwriting");
    const auto lost = most_lost(directory);
    std::printf("at most %lld steps were lost at once\n", static_cast<long long>(lost));
    expect(lost <= 2 * save_steps,
           "no more steps are lost than since the last checkpoint, which may not have been complete");
    std::filesystem::remove_all(directory);
}
