// SPDX-License-Identifier: BSD-3-Clause
// Tasks on loopback beside raw TCP and raw ZeroMQ: an empty remote run; a push and a pull of 10^2 to 10^7 floats, also with keys and with 16-bit
// edges; two workers that train on one parameter server. "cpu" is the time of all threads of the process, which holds both ends.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <benchmark/benchmark.h>
#include <zmq.hpp>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "../../examples/child_process.hpp"

using namespace rill;

namespace {

// ---- without rill: bytes there and back --------------------------------------------------------------------------------

void send_all(int to, const char* from, std::size_t bytes) {
    while (bytes > 0) {
        const auto n = ::send(to, from, bytes, MSG_NOSIGNAL);
        if (n <= 0) return;
        from += n;
        bytes -= static_cast<std::size_t>(n);
    }
}
bool receive_all(int from, char* to, std::size_t bytes) {
    while (bytes > 0) {
        const auto n = ::recv(from, to, bytes, 0);
        if (n <= 0) return false;
        to += n;
        bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

void raw_tcp(benchmark::State& state) {
    const auto bytes = static_cast<std::size_t>(state.range(0)) * sizeof(float);
    const int listens = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (bind(listens, reinterpret_cast<sockaddr*>(&at), size) != 0 || listen(listens, 1) != 0 ||
        getsockname(listens, reinterpret_cast<sockaddr*>(&at), &size) != 0 ||
        connect(client, reinterpret_cast<sockaddr*>(&at), size) != 0)
        return state.SkipWithError("no connection");
    const int other = accept(listens, nullptr, nullptr), now = 1;
    for (const int s : {client, other}) setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
    std::thread echo([=] {
        std::vector<char> block(bytes);
        while (receive_all(other, block.data(), bytes)) send_all(other, block.data(), bytes);
    });
    std::vector<char> block(bytes, 1);
    for (auto _ : state) {
        send_all(client, block.data(), bytes);
        receive_all(client, block.data(), bytes);
    }
    close(client);
    echo.join();
    close(other);
    close(listens);
    state.SetBytesProcessed(state.iterations() * 2 * static_cast<std::int64_t>(bytes));
}
BENCHMARK(raw_tcp)->Arg(100)->Arg(100'000)->Arg(10'000'000)->UseRealTime()->MeasureProcessCPUTime();

void raw_zmq(benchmark::State& state, bool with_keys) {
    const auto bytes = static_cast<std::size_t>(state.range(0)) * sizeof(float);
    zmq::context_t context;
    zmq::socket_t server(context, zmq::socket_type::router), client(context, zmq::socket_type::dealer);
    for (auto* s : {&server, &client}) s->set(zmq::sockopt::linger, 0);
    if (with_keys) {
        const auto [open, secret] = make_key_pair();
        for (auto* s : {&server, &client}) {
            s->set(zmq::sockopt::curve_publickey, open);
            s->set(zmq::sockopt::curve_secretkey, secret);
        }
        server.set(zmq::sockopt::curve_server, true);
        client.set(zmq::sockopt::curve_serverkey, open);
    }
    server.bind("tcp://127.0.0.1:*");
    client.connect(server.get(zmq::sockopt::last_endpoint));
    std::thread echo([&] {
        for (;;) {
            zmq::message_t route, body;
            if (!server.recv(route) || !server.recv(body) || body.size() == 0) return;
            server.send(route, zmq::send_flags::sndmore);
            server.send(body, zmq::send_flags::none);
        }
    });
    zmq::message_t block(bytes);
    std::memset(block.data(), 1, bytes);
    for (auto _ : state) {
        client.send(block, zmq::send_flags::none);
        if (!client.recv(block)) return state.SkipWithError("no answer");
    }
    client.send(zmq::message_t(), zmq::send_flags::none);
    echo.join();
    state.SetBytesProcessed(state.iterations() * 2 * static_cast<std::int64_t>(bytes));
}
BENCHMARK_CAPTURE(raw_zmq, plain, false)
    ->Arg(100)
    ->Arg(100'000)
    ->Arg(10'000'000)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(raw_zmq, keys, true)->Arg(100)->Arg(100'000)->Arg(10'000'000)->UseRealTime()->MeasureProcessCPUTime();

// ---- rill ---------------------------------------------------------------------------------------------------------------

/// A parameter server and workers of this process, joined by TCP.
struct tasks {
    explicit tasks(int count, bool with_keys = false, const health_options& health = {}) {
        const auto at = free_addresses(count + 1);
        spec = cluster_spec{{"ps", {at[0]}}, {"worker", std::vector<std::string>(at.begin() + 1, at.end())}};
        std::vector<std::pair<std::string, std::string>> allowed;
        std::vector<credentials> keys(static_cast<std::size_t>(count) + 1);
        if (with_keys) {
            for (std::size_t i = 0; i < keys.size(); ++i) {
                const auto pair = make_key_pair();
                const auto name = i == 0 ? "ps/0" : "worker/" + std::to_string(i - 1);
                keys[i] = credentials{name, pair.first, pair.second, {}};
                allowed.emplace_back(name, pair.first);
            }
            const auto pair = make_key_pair();
            allowed.emplace_back("bench", pair.first);
            for (auto& k : keys) k.allowed = allowed;
            client = credentials{"bench", pair.first, pair.second, allowed, "worker/0"};
        }
        all.push_back(std::make_unique<server>(spec, "ps", 0, server_options{.security = keys[0], .health = health}));
        for (int i = 0; i < count; ++i)
            all.push_back(std::make_unique<server>(spec, "worker", i,
                                                   server_options{.security = keys[static_cast<std::size_t>(i) + 1],
                                                                  .health = health}));
    }
    std::string target(std::size_t worker = 0) const { return all[worker + 1]->target(); }

    cluster_spec spec;
    std::vector<std::unique_ptr<server>> all;
    credentials client; // without keys: none
};

template <class F> auto on(const char* device, const F& f) {
    const device_scope there(device);
    return f();
}

void empty_remote_run(benchmark::State& state) {
    const graph g;
    const graph_scope here(g);
    const placeholder<float> x("x");
    const auto y = on("/job:ps", [&] { return tensor<float>(identity(x)); });
    const tasks all(1);
    const session s({.target = all.target()});
    const auto call = s.make_callable(std::tuple(y), x);
    for (auto _ : state) benchmark::DoNotOptimize(call(1.f));
}
BENCHMARK(empty_remote_run)->UseRealTime()->MeasureProcessCPUTime();

template <index_t N>
void push_pull_of(benchmark::State& state, bool with_keys, wire_format wire, const health_options& health = {}) {
    const graph g;
    const graph_scope here(g);
    const auto v = on("/job:ps", [] { return variable<float, N>("v", constant_initializer(0.5)); });
    const auto change = on("/job:worker", [&] { return tensor<float, N>(v * 0.001f); });
    const auto step = on("/job:ps", [&] { return group(v.assign_add(change)); });
    const tasks all(1, with_keys, health);
    session_options o;
    o.target = all.target();
    o.security = all.client; // a client has a key, too
    o.wire = wire;
    const session s(o);
    s.run(v.initializer());
    const auto call = s.make_callable(step);
    for (auto _ : state) call();
    state.SetBytesProcessed(state.iterations() * 2 * N * static_cast<std::int64_t>(sizeof(float)));
}
/// A variable comes to the worker, and what that makes of it is added.
void push_pull(benchmark::State& state, bool with_keys, wire_format wire) {
    switch (state.range(0)) {
    case 100: return push_pull_of<100>(state, with_keys, wire);
    case 100'000: return push_pull_of<100'000>(state, with_keys, wire);
    default: return push_pull_of<10'000'000>(state, with_keys, wire);
    }
}
BENCHMARK_CAPTURE(push_pull, plain, false, wire_format::as_is)
    ->Arg(100)
    ->Arg(100'000)
    ->Arg(10'000'000)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(push_pull, keys, true, wire_format::as_is)
    ->Arg(100)
    ->Arg(100'000)
    ->Arg(10'000'000)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(push_pull, bfloat16, false, wire_format::bfloat16)
    ->Arg(100'000)
    ->Arg(10'000'000)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

/// What watching peers costs: 1 MiB there and back with heartbeats and credits, and with nearly none.
void push_pull_1_mib(benchmark::State& state, bool is_watched) {
    health_options health;
    if (!is_watched) {
        health.heartbeat = std::chrono::hours(1);
        health.slow = health.suspect = health.dead = std::chrono::hours(10);
        health.window = std::size_t(1) << 40;
    }
    push_pull_of<262'144>(state, false, wire_format::as_is, health);
}
BENCHMARK_CAPTURE(push_pull_1_mib, watched, true)->UseRealTime()->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(push_pull_1_mib, not_watched, false)->UseRealTime()->MeasureProcessCPUTime();

/// Two workers train 784-100-10 on one parameter server, each at its own pace; "items" are steps of both.
void two_workers(benchmark::State& state) {
    const tasks all(2);
    constexpr int batch = 100;
    const xt::xtensor<float, 2> images(std::array<std::size_t, 2>{batch, 784}, 0.1f);
    xt::xtensor<int, 1> labels(std::array<std::size_t, 1>{batch});
    for (int i = 0; i < batch; ++i) labels(static_cast<std::size_t>(i)) = i * 7 % 10;
    /// A worker's graph, its session, and a step of it.
    struct trainer {
        graph g;
        std::unique_ptr<session> s;
        std::function<void()> step;
    };
    const auto make = [&](int worker) {
        auto made = std::make_unique<trainer>();
        const graph_scope here(made->g);
        const auto name = "/job:worker/task:" + std::to_string(worker);
        const device_scope there(replica_device_setter(all.spec, {.worker = name}));
        const placeholder<float, dyn, 784> x("x");
        const placeholder<int, dyn> label("label");
        const auto logits = dense<100, 10>("logits", relu(dense<784, 100>("hidden", x)));
        const auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
        const auto train = gradient_descent(0.01f).minimize(loss);
        session_options o;
        o.target = all.target(static_cast<std::size_t>(worker));
        o.replica = worker;
        made->s = std::make_unique<session>(made->g, o);
        if (worker == 0) made->s->run(global_variables_initializer());
        made->step = [&images, &labels, call = made->s->make_callable(train, x, label)] { call(images, labels); };
        made->step();
        return made;
    };
    const auto first = make(0), second = make(1);
    std::atomic<bool> is_over{false};
    std::atomic<std::int64_t> others{0};
    std::thread other([&] {
        for (; !is_over; ++others) second->step();
    });
    std::int64_t before = others;
    for (auto _ : state) first->step();
    state.SetItemsProcessed(state.iterations() + others - before);
    is_over = true;
    other.join();
}
BENCHMARK(two_workers)->UseRealTime()->MeasureProcessCPUTime();

} // namespace
