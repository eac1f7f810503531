// SPDX-License-Identifier: BSD-3-Clause
// What strangers may send to a server: bytes that are no messages, messages that make no sense, and connections that are no connections. It
// goes on serving, and nothing escapes.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include <rill/distributed.hpp>
#include <rill/distributed/tensor_frame.hpp>
#include <rill/distributed/wire_message.hpp>
#include <rill/distributed/wire_meta.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>

#include "catch.hpp"
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

std::string random_bytes(seeds::draws& draws, std::size_t most) {
    std::string t(draws(most + 1), '\0');
    for (auto& c : t) c = static_cast<char>(draws(256));
    return t;
}

/// Changes, removes or adds some bytes.
std::string damaged(seeds::draws& draws, std::string t) {
    for (auto n = draws(4); n > 0; --n) {
        const auto at = draws(t.size() + 1);
        switch (draws(4)) {
        case 0: t.resize(at); break;
        case 1: t.insert(at, random_bytes(draws, 9)); break;
        default:
            if (at < t.size()) t[at] = static_cast<char>(draws(2) ? draws(256) : 255);
        }
    }
    return t;
}

std::string random_meta(seeds::draws& draws) {
    const tensor_meta value{{dtype::float32, dims{3}}, static_cast<std::uint32_t>(draws(3)), draws(20), draws(20)};
    switch (draws(14)) {
    case 0: return bytes_of_meta(hello_meta{"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0", "", "data"});
    case 1:
        return bytes_of_meta(register_meta{.run = draws(3),
                                           .names = {{"x:0"}, {"y:0"}, {"t"}},
                                           .sends = {{1, "a"}},
                                           .receives = {{2, "b"}},
                                           .edges = 3,
                                           .progress_timeout = 1,
                                           .device_count = {{"cpu", 2}, {"far", 1}}});
    case 2:
        return bytes_of_meta(
            step_meta{draws(3), draws(5), draws(5), static_cast<std::uint8_t>(draws(2)), {value, value}});
    case 3: return bytes_of_meta(push_meta{draws(3), draws(5), static_cast<std::uint32_t>(draws(4)), draws(3), value});
    case 4: return bytes_of_meta(abort_meta{draws(5), static_cast<std::uint32_t>(draws(20)), "why"});
    case 5: return bytes_of_meta(names_meta{{"a", ""}});
    case 6: return bytes_of_meta(sizes_meta{{draws(20), draws(3)}});
    case 7: return bytes_of_meta(offset_meta{draws(20)});
    case 8: return bytes_of_meta(session_meta{.device_count = {{"cpu", 2}}, .progress_timeout = 7});
    case 9: return bytes_of_meta(run_step_meta{draws(3), static_cast<std::uint8_t>(draws(2)), {value}});
    case 10: return bytes_of_meta(devices_meta{{{"/device:CPU:0", "CPU", draws(9)}}});
    case 11: return bytes_of_meta(fence_meta{draws(3), static_cast<std::uint8_t>(draws(2))});
    case 12: return bytes_of_meta(resources_meta{{{"/job:ps/replica:0/task:0", "", "q", "Queue", {"0"}}}, {value}});
    default: return random_bytes(draws, 200);
    }
}

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

TEST_CASE("hostile bytes: whoever reads them refuses them, and allocates no more than came", "[random]") {
    seeds::each(300, [](std::uint64_t seed) {
        seeds::draws draws(seed);
        const auto meta = damaged(draws, random_meta(draws));
        const auto reads = [&](auto made) {
            try {
                (void)meta_of<decltype(made)>(meta);
            } catch (const error&) {}
        };
        reads(hello_meta{}), reads(pong_meta{}), reads(register_meta{}), reads(step_meta{}), reads(push_meta{}), reads(abort_meta{});
        reads(names_meta{}), reads(values_meta{}), reads(trace_meta{}), reads(run_meta{});
        reads(run_names{}), reads(sizes_meta{}), reads(offset_meta{}), reads(session_meta{}), reads(opened_meta{}),
            reads(run_step_meta{});
        reads(devices_meta{}), reads(fence_meta{}), reads(resources_meta{});
        const std::vector<message_part> payload{message_part(random_bytes(draws, 64)),
                                                message_part(random_bytes(draws, 64))};
        const dtype types[] = {dtype::float32, dtype::string, dtype::boolean, dtype::int64,
                               static_cast<dtype>(draws(40))};
        const index_t extents[] = {0, 1, 3, dyn, -7, index_t(1) << 40, index_t(1) << 62};
        const tensor_meta value{{types[draws(5)], dims{extents[draws(7)], extents[draws(7)]}},
                                static_cast<std::uint32_t>(draws(3)),
                                draws(2) ? draws(70) : ~std::uint64_t(0),
                                draws(2) ? draws(70) : ~std::uint64_t(0)};
        try {
            (void)decode_tensor(value, payload);
        } catch (const error&) {}
    });
}

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
