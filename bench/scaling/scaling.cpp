// SPDX-License-Identifier: BSD-3-Clause
// How far training scales with its parameter servers, asynchronous and in step: the channels and responders of a cluster, in one thread and in
// virtual time, with the costs of messages, of the wire and of updates as they were measured. Prints the tables of docs/scaling.md.
//   scaling_bench            10 to 1,000 workers
//   scaling_bench --quick    10 and 30 workers, for a test
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/distributed/channel.hpp>
#include <rill/distributed/responder.hpp>

using namespace rill;
using namespace rill::detail;

namespace {

using time_point = environment::time_point;

// Seconds, and bytes a second: loopback of a 2-core EPYC with ZeroMQ 4.3.4, where a round trip takes 40 us.
constexpr double per_message = 8e-6; // of a task's thread, for each message that it takes
constexpr double latency = 10e-6;    // on the way
constexpr double wire = 1.7e9;       // each way, for a task
constexpr double update = 5e9;       // gradients that a server's thread applies
constexpr double compute = 10e-3;    // of a worker, for a step
constexpr double slow_part = 0.02, slow_factor = 5; // steps of stragglers, and how much longer they compute

constexpr std::chrono::nanoseconds lasting(double s) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(s * 1e9));
}

/// A clock that jumps from event to event.
class cost_world {
public:
    using key = std::pair<time_point, std::uint64_t>;

    key at(time_point when, std::function<void()> f) {
        const key k(std::max(when, now), ++last_);
        events_.emplace(k, std::move(f));
        return k;
    }
    void withdraw(const key& k) { events_.erase(k); }
    void run_one() {
        auto next = events_.extract(events_.begin());
        now = next.key().first;
        next.mapped()();
    }
    bool is_over() const { return events_.empty(); }

    time_point now{};
    std::size_t messages = 0;

private:
    std::uint64_t last_ = 0;
    std::map<key, std::function<void()>> events_;
};

/// A task: its thread and its ends of the wire, each busy until some time.
class cost_task final : public environment {
public:
    cost_task(cost_world& w, std::uint64_t number) : world(w), draws_(number) {}
    time_point now() override { return world.now; }
    std::size_t choose(std::size_t) override { return 0; }
    std::uint64_t draw() override { return draws_ = draws_ * 6364136223846793005u + 1442695040888963407u; }
    void post(task f) override { world.at(world.now, std::move(f)); }
    timer at(time_point when, task f) override {
        return timer([this, k = world.at(when, std::move(f))] { world.withdraw(k); });
    }
    std::unique_ptr<signal> make_signal() override { return nullptr; } // nobody waits

    /// Occupies the thread, and calls f when it is done.
    void work(double s, std::function<void()> f) {
        thread_free = std::max(thread_free, world.now) + lasting(s);
        world.at(thread_free, std::move(f));
    }

    cost_world& world;
    time_point thread_free{}, sends_until{}, receives_until{};

private:
    std::uint64_t draws_;
};

/// A network whose messages take their time.
class cost_net final : public transport {
public:
    struct shared {
        struct lane {
            cost_task *from, *to;
            std::shared_ptr<receiver> receive;
            connection arrives_as;
        };
        std::map<std::string, std::pair<cost_task*, std::shared_ptr<receiver>>> listeners;
        std::vector<lane> lanes{1}; // by connection; 0 is none
    };
    cost_net(std::shared_ptr<shared> all, cost_task& t) : all_(std::move(all)), task_(t) {}

    std::string listen(const std::string& address, receiver f) override {
        all_->listeners[address] = {&task_, std::make_shared<receiver>(std::move(f))};
        return address;
    }
    connection connect(const std::string& address, receiver f, const std::string&) override {
        const auto& [to, receive] = all_->listeners.at(address);
        const connection forth = all_->lanes.size(), back = forth + 1;
        all_->lanes.push_back({&task_, to, receive, back});
        all_->lanes.push_back({to, &task_, std::make_shared<receiver>(std::move(f)), forth});
        return forth;
    }
    void send(connection c, message_parts m) override {
        if (c == 0) return;
        const auto& l = all_->lanes[c];
        auto& world = task_.world;
        ++world.messages;
        std::size_t bytes = 64;
        for (const auto& p : m) bytes += p.size();
        const auto takes = lasting(static_cast<double>(bytes) / wire);
        l.from->sends_until = std::max(l.from->sends_until, world.now) + takes;
        l.to->receives_until = std::max(l.from->sends_until + lasting(latency), l.to->receives_until + takes);
        world.at(l.to->receives_until, [this, c, m = std::move(m)]() mutable {
            const auto to = all_->lanes[c];
            to.to->work(per_message, [to, m = std::move(m)]() mutable { (*to.receive)(to.arrives_as, std::move(m)); });
        });
    }
    void disconnect(connection) noexcept override {}
    void close() noexcept override {}
    bool needs_checksums() const noexcept override { return false; }

private:
    const std::shared_ptr<shared> all_;
    cost_task& task_;
};

/// A parameter server or a worker.
struct node {
    node(cost_world& w, const std::shared_ptr<cost_net::shared>& all, std::uint64_t number, const std::string& called,
         std::function<void(node&, const incoming_request&, const answer_function&)> handle)
        : name(called), task(w, number), net(std::make_shared<cost_net>(all, task)) {
        const task_identity self{name, number + 1, ""};
        answers = std::make_shared<responder>(
            net, task, self, health_options{},
            [this, handle](const incoming_request& r, const answer_function& reply) { handle(*this, r, reply); });
        answers->listen(name);
        identity = self;
    }
    channel& to(const node& other) {
        auto& c = channels[other.name];
        if (!c) c = std::make_shared<channel>(net, task, identity, other.name, other.name, health_options{});
        return *c;
    }
    const std::string name;
    cost_task task;
    std::shared_ptr<cost_net> net;
    task_identity identity;
    std::shared_ptr<responder> answers;
    std::map<std::string, std::shared_ptr<channel>> channels;
    std::map<std::string, answer_function> steps; // of a server: the answers of parts that run, by worker
    std::size_t awaits = 0, done = 0;             // of a worker: values or answers of this step, and steps
    std::size_t round = 0;                        // of a server in step: the current one
    std::map<std::string, std::size_t> rounds;    // by worker: that in which it got its values
    std::vector<std::string> arrived;             // workers whose gradients this round has
};

/// How replicas train.
struct training_mode {
    std::size_t aggregate = 0; // gradients that make a step; 0: asynchronous
    bool has_stragglers = false;
};

/// Trains with `workers` replicas and a model of `bytes`, spread over `shards` servers. A step asks each server for its part of the model,
/// computes, and sends each its gradient, as the parts of a cut run do. In step, a server answers once it has enough gradients of a round;
/// those that come later are dropped.
struct training {
    training(std::size_t workers, std::size_t shards, std::size_t bytes, const training_mode& how = {})
        : mode(how), values(bytes / shards) {
        const auto all = std::make_shared<cost_net::shared>();
        for (std::size_t i = 0; i < shards; ++i)
            servers.push_back(std::make_unique<node>(world, all, i, "ps" + std::to_string(i),
                                                     [this](node& self, const incoming_request& r,
                                                            const answer_function& reply) { serve(self, r, reply); }));
        for (std::size_t i = 0; i < workers; ++i)
            replicas.push_back(std::make_unique<node>(
                world, all, 1000 + i, "worker" + std::to_string(i),
                [this](node& self, const incoming_request&, const answer_function& reply) { take(self, reply); }));
    }

    message_part model() const { return {values.data(), values.size(), nullptr}; }

    void serve(node& self, const incoming_request& r, const answer_function& reply) {
        if (r.method == wire_method::run_part) { // sends the variables; the gradient will end it
            self.steps[r.caller] = reply;
            self.rounds[r.caller] = self.round;
            const auto& worker = *replicas[std::stoul(r.caller.substr(6))];
            self.to(worker).call({.method = wire_method::push, .payload = {model()}},
                                 [](const std::exception_ptr&, const wire_answer&) {});
            return;
        }
        reply(nullptr, {});
        self.task.work(static_cast<double>(values.size()) / update, [this, &self, who = r.caller] {
            if (mode.aggregate == 0 || self.rounds.at(who) < self.round) return end(self, who);
            self.arrived.push_back(who);
            if (self.arrived.size() < mode.aggregate) return;
            ++self.round; // what arrives from here on is late
            if (&self == servers[0].get()) ++rounds;
            self.task.work(static_cast<double>(values.size()) / update,
                           [&self, all = std::exchange(self.arrived, {})] {
                               for (const auto& w : all) end(self, w);
                           });
        });
    }
    static void end(node& self, const std::string& who) {
        const auto ends = std::move(self.steps.at(who));
        ends(nullptr, {});
    }
    /// Returns the time in which a worker computes a step.
    double compute_time(node& self) const {
        constexpr double most = 18446744073709551616.0; // 2^64
        const bool is_slow = mode.has_stragglers && static_cast<double>(self.task.draw()) / most < slow_part;
        return is_slow ? compute * slow_factor : compute;
    }

    void take(node& self, const answer_function& reply) {
        reply(nullptr, {});
        if (--self.awaits > 0) return;
        world.at(world.now + lasting(compute_time(self)), [this, &self] {
            self.awaits = servers.size();
            for (const auto& ps : servers)
                self.to(*ps).call({.method = wire_method::push, .payload = {model()}},
                                  [](const std::exception_ptr&, const wire_answer&) {});
        });
    }

    void begin(node& self) {
        self.awaits = servers.size();
        for (const auto& ps : servers)
            self.to(*ps).call({.method = wire_method::run_part},
                              [this, &self](const std::exception_ptr& problem, const wire_answer&) {
                                  if (problem) std::rethrow_exception(problem);
                                  if (--self.awaits > 0) return;
                                  ++self.done;
                                  ++steps;
                                  begin(self);
                              });
    }

    /// Returns the steps of all workers in a second; in step, those of the variables.
    double run() {
        for (std::size_t i = 0; i < replicas.size(); ++i) // they do not begin together
            world.at(time_point(lasting(compute * static_cast<double>(i) / static_cast<double>(replicas.size()))),
                     [this, i] { begin(*replicas[i]); });
        const bool is_sync = mode.aggregate > 0;
        const auto& count = is_sync ? rounds : steps;
        const std::size_t each = is_sync ? 1 : replicas.size();
        while (count < 4 * each) world.run_one();
        const auto first = count;
        const auto begun = world.now;
        while (count < first + (is_sync ? 40 : 8) * each) world.run_one();
        return static_cast<double>(count - first) / std::chrono::duration<double>(world.now - begun).count();
    }

    const training_mode mode;
    const std::vector<char> values;
    cost_world world;
    std::vector<std::unique_ptr<node>> servers, replicas;
    std::size_t steps = 0, rounds = 0;
};

} // namespace

int main(int count, char** arguments) {
    const bool quick = count > 1 && std::strcmp(arguments[1], "--quick") == 0;
    const std::vector<std::size_t> workers =
        quick ? std::vector<std::size_t>{10, 30} : std::vector<std::size_t>{10, 30, 100, 300, 1000};
    std::size_t messages = 0;
    const auto begun = std::chrono::steady_clock::now();
    for (const std::size_t bytes : {std::size_t(4'000), std::size_t(318'000)}) {
        std::printf(
            "\nA model of %zu bytes: steps of all workers in a second, and the part of what they would do alone\n\n",
            bytes);
        std::printf("| workers | 1 server | 2 servers | 4 servers | 8 servers |\n|---|---|---|---|---|\n");
        const auto alone = training(1, 1, bytes).run();
        for (const auto n : workers) {
            std::printf("| %zu |", n);
            for (const std::size_t shards : {1, 2, 4, 8}) {
                training t(n, shards, bytes);
                const auto rate = t.run();
                messages += t.world.messages;
                std::printf(" %.0f (%.0f %%) |", rate, 100 * rate / (alone * static_cast<double>(n)));
            }
            std::printf("\n");
        }
    }
    constexpr std::pair<std::size_t, std::size_t> models[]{{4'000, 1}, {318'000, 8}}; // bytes, servers
    for (const auto& [bytes, shards] : models) {
        std::printf("\nIn step, a model of %zu bytes on %zu server(s): steps in a second. Stragglers are %g %% of the steps of "
                    "workers, and take %g times as long\n\n",
                    bytes, shards, 100 * slow_part, slow_factor);
        std::printf("| workers | no stragglers | stragglers | 2 %% backups | 5 %% backups | 10 %% backups |\n|---|---|---|---|---|---|\n");
        for (const auto n : workers) {
            std::printf("| %zu |", n);
            for (const int column : {0, 1, 2, 3, 4}) {
                constexpr std::size_t percent[]{0, 0, 2, 5, 10};
                const std::size_t backups = (percent[column] * n + 99) / 100;
                training t(n, shards, bytes, {n - backups, column > 0});
                std::printf(" %.1f |", t.run());
                messages += t.world.messages;
            }
            std::printf("\n");
        }
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
    std::printf("\n%zu messages; this machine took %.1f us for each, simulator and protocol together\n", messages,
                took.count() / static_cast<double>(messages));
    return 0;
}
