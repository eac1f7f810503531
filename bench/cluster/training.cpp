// SPDX-License-Identifier: BSD-3-Clause
// Training by several processes of one machine, over loopback: steps of small and larger models, asynchronous and in step; rows of a large
// table; sums of 10 million floats; and how long recovery takes. Every figure is the median of five rounds, which alternate between the
// cases. The program starts its other processes by itself.
//     training_bench            all
//     training_bench --quick    one short round, for a test
//     training_bench --once "tiny, in step"    one round of this case
//     mpirun -np 2 training_bench --mpi    sums by MPI alone
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "../../examples/child_process.hpp"

using namespace rill;

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point begin) {
    return std::chrono::duration<double>(clock_type::now() - begin).count();
}
std::string worker_name(int task) { return "/job:worker/task:" + std::to_string(task); }

enum class mode { async, prefetched, sync };

/// What a worker trains: the operation of a step, and what is fed.
struct training {
    operation step;
    std::vector<feed_value> feeds;
};

/// One number that is pulled to zero.
training tiny(mode how, int workers, const variable<std::int64_t>& counter) {
    const variable<float> w("w", 1.f);
    const gradient_descent by(1e-6f);
    prefetched_parameters near;
    const operation step =
        how == mode::async        ? by.minimize(square(w), counter)
        : how == mode::prefetched ? near.minimize(by, square(near(w)), counter)
                                  : sync_replicas(by, {.replicas_to_aggregate = workers}).minimize(square(w), counter);
    return {step, {}};
}

/// 784-100-10 with batches of 32: 318 KB.
training digits(mode how, int workers, const variable<std::int64_t>& counter) {
    const variable<float, 784, 100> w1("w1", glorot_uniform(1));
    const variable<float, 100> b1("b1", 0.f);
    const variable<float, 100, 10> w2("w2", glorot_uniform(2));
    const variable<float, 10> b2("b2", 0.f);
    const placeholder<float, 32, 784> image("image");
    const placeholder<int, 32> label("label");
    const auto loss_of = [&](const auto& f) {
        return reduce_mean(sparse_softmax_cross_entropy(
            tensor<float, 32, 10>(matmul(relu(matmul(image, f(w1)) + f(b1)), f(w2)) + f(b2)), label));
    };
    const auto as_it_is = [](const auto& v) { return v; };
    const gradient_descent by(1e-3f);
    prefetched_parameters near;
    const operation step =
        how == mode::async        ? by.minimize(loss_of(as_it_is), counter)
        : how == mode::prefetched ? near.minimize(by, loss_of([&](const auto& v) { return near(v); }), counter)
                                  : sync_replicas(by, {.replicas_to_aggregate = workers})
                                        .minimize(loss_of(as_it_is), counter);
    static const xt::xtensor<float, 2> images = xt::ones<float>({32, 784}) * 0.01f;
    static const std::vector<int> labels(32, 3);
    return {step, {feed(image, images), feed(label, labels)}};
}

/// Rows of a table of 10^6 x 64.
training embedding(mode, int, const variable<std::int64_t>& counter) {
    const variable<float, 1'000'000, 64> table("table", 0.1f);
    const placeholder<int, 128> ids("ids");
    const operation step = gradient_descent(0.1f).minimize(reduce_mean(gather(table, ids)), counter);
    static const std::vector<int> some = [] {
        std::vector<int> all;
        for (int i = 0; i < 128; ++i) all.push_back(i * 7'649 % 1'000'000);
        return all;
    }();
    return {step, {feed(ids, some)}};
}

struct bench_case {
    const char* name;
    training (*make)(mode, int, const variable<std::int64_t>&);
    mode how;
    int workers, steps;
};
const bench_case cases[]{{"tiny, asynchronous", tiny, mode::async, 1, 2000},
                         {"tiny, copies of parameters", tiny, mode::prefetched, 1, 2000},
                         {"tiny, in step", tiny, mode::sync, 1, 2000},
                         {"784-100-10, two workers, asynchronous", digits, mode::async, 2, 300},
                         {"784-100-10, two workers, copies of parameters", digits, mode::prefetched, 2, 300},
                         {"784-100-10, two workers, in step", digits, mode::sync, 2, 300},
                         {"128 rows of 10^6 x 64", embedding, mode::async, 1, 500}};

struct measured {
    double steps_per_second = 0; // of all workers; in step, of the variables
    double processor = 0;        // seconds of all threads of this worker in a step of it
    std::uint64_t bytes = 0;     // that this worker has sent in a step
};

/// Trains as one of the workers. Only the first one measures.
measured train(const bench_case& c, const cluster_spec& cluster, int task, int steps) {
    const server node(cluster, "worker", task);
    const graph g;
    const graph_scope use(g);
    const device_scope on(replica_device_setter(cluster, {.worker = worker_name(task)}));
    const variable<std::int64_t> counter = get_or_create_global_step();
    const auto t = c.make(c.how, c.workers, counter);
    const session s({.target = node.target(), .replica = task});
    if (task == 0) s.run(global_variables_initializer());
    for (bool ready = false; !ready;) try {
            s.run(local_variables_initializer());
            (void)s.run(counter);
            ready = true;
        } catch (const failed_precondition&) { // the first worker has not initialised the variables yet
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    if (task != 0) {
        try {
            for (;;) s.run(t.step, t.feeds);
        } catch (const error&) { // the first worker has ended, and so have the servers
        }
        return {};
    }
    for (int i = 0; i < steps / 10 + 1; ++i) s.run(t.step, t.feeds);
    const auto first = s.run(counter);
    const auto bytes = node.bytes_sent();
    const auto begin = clock_type::now();
    const auto processor_begin = std::clock();
    for (int i = 0; i < steps; ++i) s.run(t.step, t.feeds);
    const double processor = static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC / steps;
    const double took = seconds_since(begin);
    const auto sent = (node.bytes_sent() - bytes) / static_cast<std::uint64_t>(steps);
    return {static_cast<double>(s.run(counter) - first) / took, processor, sent};
}

/// Returns the seconds of a sum of 10^7 floats over two ranks.
double sum_floats(const collective_group& all, const std::string& target, int rounds) {
    constexpr index_t count = 10'000'000;
    const variable<float, count> x("x", 1.f);
    const tensor<float, count> sum = all_reduce(x, all);
    const operation once = group(sum);
    const session s(session_options{.target = target});
    s.run(x.initializer());
    s.run(once);
    std::vector<double> all_times;
    for (int i = 0; i < rounds; ++i) {
        const auto begin = clock_type::now();
        s.run(once);
        all_times.push_back(seconds_since(begin));
    }
    std::sort(all_times.begin(), all_times.end());
    return all_times[all_times.size() / 2];
}
double sum_over_tasks(const cluster_spec& cluster, int rank, int rounds) {
    server node(cluster, "worker", rank);
    const graph g;
    const graph_scope use(g);
    const device_scope on(worker_name(rank));
    const double took = sum_floats(
        collective_group({.ranks = 2, .rank = rank, .tasks = {worker_name(0), worker_name(1)}}), node.target(), rounds);
    if (rank != 0) node.join(); // the first one may still read its part of the last sum
    return took;
}

/// Returns the seconds from the start of a new parameter server until the first step of training that goes on.
double recovery(const cluster_spec& cluster, const std::function<std::unique_ptr<child_process>()>& start) {
    auto ps = start();
    const health_options fast{.heartbeat = std::chrono::milliseconds(50),
                              .slow = std::chrono::milliseconds(200),
                              .suspect = std::chrono::milliseconds(400),
                              .dead = std::chrono::milliseconds(800)};
    const server node(cluster, "worker", 0, {.health = fast});
    const graph g;
    const graph_scope use(g);
    const device_scope on(replica_device_setter(cluster, {.worker = worker_name(0)}));
    const variable<std::int64_t> counter = get_or_create_global_step();
    const auto t = digits(mode::async, 1, counter);
    monitored_session m({.target = node.target(),
                         .checkpoint_dir = "training_bench_run",
                         .save_steps = 20,
                         .log_steps = 0,
                         .stop_at_signals = false});
    for (int i = 0; i < 41; ++i) m.run(t.step, t.feeds.at(0), t.feeds.at(1)); // two checkpoints
    ps->end();
    ps = start();
    const auto begin = clock_type::now();
    (void)m.global_step(); // opens a new session and restores
    return seconds_since(begin);
}

cluster_spec cluster_of(const std::vector<std::string>& at) {
    return {{"ps", {at[0]}}, {"worker", {at.begin() + 1, at.end()}}};
}

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

} // namespace

int main(int count, char** arguments) {
    if (count > 1 && std::strcmp(arguments[1], "--mpi") == 0) {
        const collective_group all({.engine = "mpi"});
        const double took = sum_floats(all, "", 11);
        if (all.rank() == 0)
            std::printf("all_reduce of 10^7 floats by MPI, %d ranks: %.1f ms\n", static_cast<int>(all.ranks()),
                        1e3 * took);
        return 0;
    }
    if (!has_child_processes) return 0;
    if (count > 4) { // started below: what it is, its number, the case, the rounds, and the addresses of all
        const std::string what = arguments[1];
        const int number = std::atoi(arguments[2]), which = std::atoi(arguments[3]), rounds = std::atoi(arguments[4]);
        const auto cluster = cluster_of({arguments + 5, arguments + count});
        if (what == "ps") {
            server node(cluster, "ps", 0);
            node.join();
        } else if (what == "worker") {
            train(cases[which], cluster, number, 0);
        } else {
            try {
                sum_over_tasks(cluster, number, rounds);
            } catch (const error&) { // the first one has ended
            }
        }
        return 0;
    }
    const bool quick = count > 1 && std::strcmp(arguments[1], "--quick") == 0;
    const std::string only = count > 2 && std::strcmp(arguments[1], "--once") == 0 ? arguments[2] : "";
    const int rounds = quick || !only.empty() ? 1 : 5;
    const auto start = [&](const std::string& what, int number, std::size_t which, const std::vector<std::string>& at) {
        std::vector<std::string> all{what, std::to_string(number), std::to_string(which),
                                     std::to_string(quick ? 1 : 11)};
        all.insert(all.end(), at.begin(), at.end());
        return std::make_unique<child_process>(arguments[0], all);
    };
    std::map<std::string, std::vector<double>> figures, processor;
    std::map<std::string, std::uint64_t> bytes;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < std::size(cases); ++i) {
            const auto& c = cases[i];
            if (!only.empty() && only != c.name) continue;
            const auto at = free_addresses(1 + c.workers);
            const auto ps = start("ps", 0, i, at);
            std::vector<std::unique_ptr<child_process>> others;
            for (int w = 1; w < c.workers; ++w) others.push_back(start("worker", w, i, at));
            const auto m = train(c, cluster_of(at), 0, quick ? 5 : c.steps);
            figures[c.name].push_back(m.steps_per_second);
            processor[c.name].push_back(m.processor);
            bytes[c.name] = m.bytes;
        }
        if (!only.empty()) break;
        const auto at = free_addresses(3);
        const auto other = start("sum", 1, 0, at);
        figures["all_reduce of 10^7 floats over two tasks, ms"].push_back(
            1e3 * sum_over_tasks(cluster_of(at), 0, quick ? 1 : 11));
        other->end();
        const auto alone = free_addresses(2);
        figures["recovery after a parameter server has started again, ms"].push_back(
            1e3 * recovery(cluster_of(alone), [&] { return start("ps", 0, 0, alone); }));
        std::filesystem::remove_all("training_bench_run");
    }
    for (const auto& [name, all] : figures) {
        std::printf("%-60s %10.1f", name.c_str(), median(all));
        if (bytes.contains(name))
            std::printf(" steps/s, %.3f ms of CPU time and %llu bytes sent in a step of a worker",
                        1e3 * median(processor[name]), static_cast<unsigned long long>(bytes[name]));
        std::printf("\n");
    }
    return 0;
}
