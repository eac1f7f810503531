// SPDX-License-Identifier: BSD-3-Clause
// What strangers may send to a server: bytes that are no messages, messages that make no sense, and connections that are no connections. It
// goes on serving, and nothing escapes.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include <rill/distributed.hpp>
#include <rill/distributed/wire_message.hpp>
#include <rill/distributed/wire_meta.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>

#include "catch.hpp"
#include "distributed/damaged_bytes.hpp"
#include "seeds.hpp"
#include "virtual_environment.hpp"

#if defined(__linux__)
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

using namespace rill;

namespace test_hostile_bytes {

using namespace rill::detail;
using namespace std::chrono_literals;
using damaged_bytes::damaged, damaged_bytes::random_bytes, damaged_bytes::random_meta;

/// A network whose messages a test writes.
class open_net final : public transport {
public:
    std::string listen(const std::string& address, receiver f) override {
        receive = std::move(f);
        return address;
    }
    connection connect(const std::string&, receiver, const std::string&) override { return 1; }
    void send(connection, message_parts m) override {
        if (const auto read = unpack_message(m)) answers.push_back(read->head.type);
    }
    void disconnect(connection) noexcept override {}
    void close() noexcept override {}
    bool needs_checksums() const noexcept override { return true; }

    receiver receive;
    std::vector<wire_type> answers;
};

TEST_CASE("hostile bytes: a server outlives any sequence of messages", "[random]") {
    seeds::each(60, [](std::uint64_t seed) {
        seeds::draws draws(seed);
        virtual_environment time(seed);
        const auto net = std::make_shared<open_net>();
        const cluster_spec spec{{"ps", {"hostile/ps"}}, {"worker", {"hostile/worker"}}};
        server node(spec, "ps", 0, {.net = net, .environment = &time});
        bool is_honest = false;
        const auto send = [&](transport::connection from, wire_type type, const std::string& meta, bool damages) {
            wire_message m;
            m.head.type = type;
            m.head.flags = static_cast<std::uint8_t>(is_honest || draws(3) ? 0 : draws(256));
            m.head.session = {draws(2), draws(2)};
            m.head.sender = is_honest ? 50 : 5 + draws(2); // others may have been cut off
            m.head.receiver = type == wire_type::hello ? 0 : draws(10) ? node.incarnation() : draws(9);
            m.head.request = draws(6);
            m.head.ack_below = draws(4);
            m.head.time_left = draws(2) ? wire_header::no_deadline : 1 + static_cast<std::uint32_t>(draws(2000));
            m.head.method = static_cast<std::uint32_t>(draws(26));
            m.head.credit = static_cast<std::uint32_t>(draws(2) ? draws(5) : ~std::uint64_t(0));
            m.meta = is_honest || draws(50) ? meta : meta + std::string(wire_header::most_meta, '!');
            for (auto n = draws(3); n > 0; --n) m.payload.emplace_back(random_bytes(draws, 100));
            auto parts = pack_message(std::move(m), true);
            if (damages) parts[draws(parts.size())] = message_part(damaged(draws, std::string(parts[0].bytes())));
            net->receive(from, std::move(parts));
        };
        const auto hello = [&](transport::connection from) {
            send(from, wire_type::hello,
                 bytes_of_meta(hello_meta{"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0", spec.digest()}),
                 false);
        };
        for (int i = 0; i < 60; ++i) {
            const transport::connection from = 1 + draws(3);
            if (draws(4) == 0)
                hello(from);
            else
                send(from, static_cast<wire_type>(1 + draws(14)),
                     draws(2) ? random_meta(draws) : damaged(draws, random_meta(draws)), draws(10) == 0);
            if (draws(3) == 0) time.run();
        }
        time.run();
        net->answers.clear();
        is_honest = true;
        hello(99);
        time.run();
        CHECK(std::ranges::find(net->answers, wire_type::welcome) != net->answers.end());
        node.stop();
        time.run();
    });
}

#if RILL_WITH_ZMQ && defined(__linux__)
/// Returns the bytes of memory that this process has.
std::size_t resident_bytes() {
    std::ifstream in("/proc/self/statm");
    std::size_t all = 0, resident = 0;
    in >> all >> resident;
    return resident * 4096;
}

/// Returns how many connections of this process to itself are possible, at most `wanted`.
std::size_t possible_connections(std::size_t wanted) {
    rlimit files{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    constexpr std::size_t others = 200;
    return std::min(wanted, (static_cast<std::size_t>(files.rlim_cur) - others) / 2); // each has two ends here
}

TEST_CASE("hostile bytes: G16: connections that claim long frames, stop halfway or say nothing") {
    const auto node = create_local_server();
    const auto port = std::stoi(node.target().substr(node.target().rfind(':') + 1));
    const auto count = possible_connections(seeds::from_environment("RILL_CONNECTIONS", 30));
    std::vector<int> held;
    std::string greeting(64, '\0'); // of ZMTP 3.0, without keys
    greeting[0] = '\xff', greeting[9] = '\x7f', greeting[10] = '\x03';
    greeting.replace(12, 4, "NULL");
    const std::string ready = std::string("\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x06", 24) + "DEALER";
    const std::string claim = std::string("\x02\x00\x00\x00\x00\x40\x00\x00\x00", 9); // a frame of 1 GiB
    seeds::draws draws(seeds::from_environment("RILL_FIRST_SEED", 1));
    const auto before = resident_bytes();
    for (std::size_t i = 0; i < count; ++i) {
        const int s = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(s >= 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(static_cast<std::uint16_t>(port));
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(connect(s, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        const std::string says = i % 6 == 0   ? greeting + ready + claim
                                 : i % 6 == 1 ? random_bytes(draws, 3000)
                                 : i % 6 == 2 ? greeting.substr(0, draws(greeting.size()))
                                 : i % 6 == 3 ? greeting
                                 : i % 6 == 4 ? greeting + ready + random_bytes(draws, 300) // frames of any kind
                                              : std::string();
        (void)!::send(s, says.data(), says.size(), MSG_NOSIGNAL);
        held.push_back(s);
    }
    const auto is_ended = [&](std::size_t i) { // by the server
        char bytes[4096];
        ssize_t n = 1;
        while (n > 0) n = recv(held[i], bytes, sizeof bytes, MSG_DONTWAIT);
        return n == 0 || errno == ECONNRESET;
    };
    for (std::size_t i = 0; i < count; i += 6) { // all that claimed a gigabyte
        pollfd input{held[i], POLLIN, 0};
        bool ended = is_ended(i);
        while (!ended && poll(&input, 1, 10'000) > 0) ended = is_ended(i);
        CHECK(ended);
    }
    graph g;
    graph_scope use(g);
    placeholder<float> x("x");
    const tensor<float> y(x + 1.f);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(session(g, {.target = node.target()}).run(y, feed(x, 1.f), {.timeout = 20s}) == 2.f);
    if (std::getenv("RILL_CONNECTIONS")) // `make soak`; elsewhere the machine may be under load
        CHECK(std::chrono::steady_clock::now() - begin < 1s);
    CHECK(resident_bytes() < before + (std::size_t(64) << 20));
    for (const int s : held) close(s);
}
#endif

} // namespace test_hostile_bytes
