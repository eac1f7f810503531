// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/zmq_transport.hpp>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <thread>

#include <rill/core/error.hpp>
#include <rill/distributed/security.hpp>
#include <rill/distributed/zmq_transport_keys.ipp>

#include "../../examples/child_process.hpp"
#include "catch.hpp"
#if RILL_WITH_ZMQ && defined(__linux__)
#include "distributed/tcp_relay.hpp"
#endif
#include "io/temporary.hpp"
#include "seeds.hpp"
#include "watched.hpp"

#if RILL_WITH_ZMQ
#include <zmq.hpp>

using namespace rill;

namespace test_zmq_transport {

using namespace std::chrono_literals;

message_parts text(const std::string& t) { return {message_part(t)}; }

/// A text that several threads append to.
struct record : watched<std::string> {
    void operator+=(std::string_view t) {
        change([&](std::string& all) { all += t; });
    }
    /// Waits until the text is `wanted`. Returns false if it is not in time.
    bool becomes(std::string_view wanted) const {
        return comes([&](const std::string& all) { return all == wanted; });
    }
};

constexpr auto is_true = [](bool b) { return b; };

TEST_CASE("zmq transport: messages and answers, in order") {
    record got, answers;
    zmq_transport a, b;
    const auto address = b.listen("127.0.0.1:0", [&](transport::connection from, message_parts m) {
        got += m.at(0).bytes();
        b.send(from, text("<" + std::string(m[0].bytes()) + ">"));
    });
    CHECK(address.starts_with("tcp://127.0.0.1:"));
    CHECK_THROWS_AS(a.listen(address, [](auto, auto) {}), already_exists);
    std::atomic<transport::connection> to{0};
    to = a.connect("zmq://" + address.substr(6), [&](transport::connection from, message_parts m) {
        if (from == to) answers += m.at(0).bytes();
    });
    for (const auto* t : {"1", "2", "3"}) a.send(to, text(t)); // they wait for the connection
    CHECK(answers.becomes("<1><2><3>"));
    CHECK(got.now() == "123");
    CHECK(b.identity(1).empty());
    a.disconnect(to);
    a.send(to, text("4"));
    std::this_thread::sleep_for(50ms);
    CHECK(got.now() == "123");
}

TEST_CASE("zmq transport: parts arrive as they were sent, long ones in frames") {
    const std::size_t frame = (1 << 20) + 4096;
    watched<std::size_t> given_back; // blocks; outlives their deleters
    std::vector<message_part> sent;
    for (const std::size_t size :
         {std::size_t(0), std::size_t(5), std::size_t(2000), frame - 1, frame, frame + 1, 3 * frame}) {
        std::string t(size, 'a');
        for (std::size_t i = 0; i < size; i += 997) t[i] = static_cast<char>(i / 997 % 100);
        const std::shared_ptr<const std::string> block(new std::string(std::move(t)), [&](const std::string* kept) {
            delete kept;
            given_back.change([](auto& n) { ++n; });
        });
        sent.emplace_back(block->data(), size, block);
    }
    const auto blocks = sent.size();
    sent.emplace_back();
    watched<message_parts> got;
    zmq_transport a, b;
    const auto address =
        b.listen("tcp://127.0.0.1:0", [&](transport::connection, message_parts m) { got.set(std::move(m)); });
    const auto to = a.connect(address, [](auto, auto) {});
    a.send(to, text("first"));
    CHECK(got.comes([](const message_parts& m) { return m.size() == 1; }));
    a.send(to, sent);
    REQUIRE(got.comes([&](const message_parts& m) { return m.size() == sent.size(); }));
    const auto received = got.now();
    for (std::size_t i = 0; i < sent.size(); ++i) {
        INFO(i);
        CHECK(bool(received[i].bytes() == sent[i].bytes()));
        if (received[i].size() >= 1024) CHECK(reinterpret_cast<std::uintptr_t>(received[i].bytes().data()) % 8 == 0);
    }
    CHECK(given_back.now() == 0);
    sent.clear();
    CHECK(given_back.comes([&](std::size_t n) { return n == blocks; })); // ZeroMQ gives them back when they are sent
}

TEST_CASE("zmq transport: a peer that comes later, and one that comes again") {
    const auto address = free_addresses(1)[0];
    zmq_transport a;
    const auto to = a.connect(address, [](auto, auto) {});
    a.send(to, text("waits"));
    for (int life = 0; life < 2; ++life) {
        record got;
        zmq_transport b;
        b.listen(address, [&](transport::connection, message_parts m) { got += m.at(0).bytes(); });
        const auto sign = std::to_string(life);
        const auto has_come = [&](const std::string& all) { return all.find(sign) != std::string::npos; };
        bool comes = false; // what is sent while ZeroMQ connects anew may be lost
        for (int tries = 0; tries < 2000 && !comes; ++tries) {
            a.send(to, text(sign));
            comes = got.comes(has_come, 10ms);
        }
        CHECK(comes);
        b.close();
        b.send(1, text("dropped"));
    }
}

#if defined(__linux__)
TEST_CASE("zmq transport: connections that end while messages of many parts arrive") {
    constexpr std::size_t parts = 31, at_once = 200;
    constexpr int cuts = 20;
    zmq_transport b, a;
    const auto address = b.listen("127.0.0.1:0", [&](transport::connection from, auto) {
        const message_parts many(parts, message_part(std::string("part")));
        for (std::size_t i = 0; i < at_once; ++i) b.send(from, many);
    });
    tcp_relay relay(std::stoi(address.substr(address.rfind(':') + 1)), 1, 100'000);
    watched<std::size_t> messages;
    std::atomic<bool> is_whole{true};
    const auto to = a.connect("127.0.0.1:" + std::to_string(relay.port()), [&](auto, const message_parts& m) {
        if (m.size() != parts) is_whole = false;
        messages.change([](std::size_t& n) { ++n; });
    });
    for (int tries = 0; tries < 10000 && relay.cuts() < cuts; ++tries) {
        const auto before = messages.now();
        a.send(to, text("more"));
        messages.comes([&](std::size_t n) { return n > before; }, 10ms); // unless the connection has ended
    }
    CHECK(relay.cuts() >= cuts);
    CHECK(is_whole);
}
#endif

TEST_CASE("zmq transport: a task may listen at two addresses") {
    record first, second;
    zmq_transport a, b;
    const auto at = b.listen("127.0.0.1:0", [&](transport::connection from, message_parts m) {
        first += m.at(0).bytes();
        b.send(from, text("1"));
    });
    const auto beside = b.listen("127.0.0.1:0", [&](transport::connection from, message_parts m) {
        second += m.at(0).bytes();
        b.send(from, text("2"));
    });
    CHECK(at != beside);
    record answers;
    const auto answered = [&](auto, message_parts m) { answers += m.at(0).bytes(); };
    a.send(a.connect(at, answered), text("here"));
    CHECK(answers.becomes("1"));
    a.send(a.connect(beside, answered), text("beside"));
    CHECK(answers.becomes("12"));
    CHECK(first.now() == "here");
    CHECK(second.now() == "beside");
}

TEST_CASE("zmq transport: several threads send at once") {
    watched got(std::vector<std::vector<int>>(4));
    zmq_transport a, b;
    const auto address = b.listen("127.0.0.1:0", [&](transport::connection, message_parts m) {
        const auto t = m.at(0).bytes();
        got.change(
            [&](auto& of) { of[static_cast<std::size_t>(t[0] - '0')].push_back(std::stoi(std::string(t.substr(1)))); });
    });
    std::vector<std::thread> senders;
    for (int i = 0; i < 4; ++i)
        senders.emplace_back([&, i, to = a.connect(address, [](auto, auto) {})] {
            for (int k = 0; k < 100; ++k) a.send(to, text(std::to_string(i) + std::to_string(k)));
        });
    for (auto& s : senders) s.join();
    CHECK(got.comes(
        [](const auto& of) { return std::ranges::all_of(of, [](const auto& one) { return one.size() == 100; }); }));
    for (const auto& one : got.now()) CHECK(std::ranges::is_sorted(one));
}

TEST_CASE("zmq transport: it closes at once, though nobody takes its messages, and from its own thread") {
    const auto begin = std::chrono::steady_clock::now();
    {
        zmq_transport a;
        const auto to = a.connect("127.0.0.1:9", [](auto, auto) {}); // nobody is there
        a.send(to, text("lost"));
        a.send(a.connect("tcp://no port", [](auto, auto) {}), text("lost"));
    }
    watched<bool> closed;
    zmq_transport a, b;
    const auto address = b.listen("127.0.0.1:0", [&](auto, auto) {
        b.close();
        closed.set(true);
    });
    a.send(a.connect(address, [](auto, auto) {}), text("close"));
    CHECK(closed.comes(is_true));
    CHECK(std::chrono::steady_clock::now() - begin < 3s);
}

TEST_CASE("zmq transport: only this machine reaches tasks without keys") {
    zmq_transport a;
    CHECK_THROWS_AS(a.listen("0.0.0.0:0", [](auto, auto) {}), permission_denied);
    CHECK_THROWS_AS(a.listen("no_such_machine.example:0", [](auto, auto) {}), permission_denied);
    CHECK_THROWS_AS(a.listen("in_process", [](auto, auto) {}), invalid_argument);
    CHECK_FALSE(a.needs_checksums());
    zmq_transport b({.security = insecure});
    b.listen("0.0.0.0:0", [](auto, auto) {});
    CHECK(b.needs_checksums());
}

TEST_CASE("zmq transport: keys tell who speaks, and strangers are not heard") {
    const auto server_keys = make_key_pair(), known = make_key_pair(), stranger = make_key_pair();
    const std::vector<std::pair<std::string, std::string>> allowed{{"ps/0", server_keys.first},
                                                                   {"worker/0", known.first}};
    record got;
    zmq_transport b({.security = {"ps/0", server_keys.first, server_keys.second, allowed}});
    const auto address = b.listen("127.0.0.1:0", [&](transport::connection from, message_parts m) {
        got += b.identity(from) + ":" + std::string(m.at(0).bytes()) + " ";
        b.send(from, text("yes"));
    });
    CHECK_FALSE(b.needs_checksums());
    record answers;
    const auto answered = [&](auto, message_parts m) { answers += m.at(0).bytes(); };
    zmq_transport plain, other({.security = {"worker/0", stranger.first, stranger.second, allowed, "ps/0"}});
    zmq_transport a({.security = {"worker/0", known.first, known.second, allowed, "ps/0"}});
    plain.send(plain.connect(address, answered), text("plain"));
    other.send(other.connect(address, answered), text("stranger"));
    std::this_thread::sleep_for(200ms);
    a.send(a.connect(address, answered), text("known"));
    CHECK(answers.becomes("yes"));
    CHECK(got.now() == "worker/0:known ");
    // an address that no list names: its peer is known by name
    zmq_transport of_cluster({.security = {"worker/0", known.first, known.second, allowed},
                              .name_at = [](const std::string&) { return std::string(); }});
    of_cluster.send(of_cluster.connect(address, answered, "ps/0"), text("named"));
    CHECK(answers.becomes("yesyes"));
}

TEST_CASE(
    "zmq transport: G17: clients without keys, with a password, with the wrong keys, and of no cluster are refused") {
    const auto of_ps = make_key_pair(), known = make_key_pair(), stranger = make_key_pair();
    const std::vector<std::pair<std::string, std::string>> allowed{{"ps/0", of_ps.first}, {"worker/0", known.first}};
    record got;
    zmq_transport b({.security = {"ps/0", of_ps.first, of_ps.second, allowed}});
    const auto address = b.listen("127.0.0.1:0", [&](transport::connection from, message_parts m) {
        got += b.identity(from) + ":" + std::string(m.at(0).bytes()) + " ";
    });
    // by ZeroMQ itself: what a client may say without our transport
    zmq::context_t context;
    const auto client = [&](const auto& prepare) {
        zmq::socket_t s(context, zmq::socket_type::dealer);
        s.set(zmq::sockopt::linger, 0);
        prepare(s);
        s.connect(address);
        s.send(zmq::str_buffer("bytes of a stranger"), zmq::send_flags::dontwait);
        return s;
    };
    const auto with_keys = [](zmq::socket_t& s, const auto& pair, const std::string& of_server) {
        s.set(zmq::sockopt::curve_publickey, pair.first);
        s.set(zmq::sockopt::curve_secretkey, pair.second);
        s.set(zmq::sockopt::curve_serverkey, of_server);
    };
    std::vector<zmq::socket_t> clients;
    const auto rounds = seeds::from_environment("RILL_ROUNDS", 10);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        clients.push_back(client([](zmq::socket_t&) {})); // NULL
        clients.push_back(client([](zmq::socket_t& s) {
            s.set(zmq::sockopt::plain_username, std::string("worker/0"));
            s.set(zmq::sockopt::plain_password, std::string("secret"));
        }));
        clients.push_back(
            client([&](zmq::socket_t& s) { with_keys(s, known, stranger.first); })); // the server's key is wrong
        clients.push_back(client([&](zmq::socket_t& s) { with_keys(s, stranger, of_ps.first); }));
        clients.push_back(client([&](zmq::socket_t& s) { // the public key of another, without its secret one
            with_keys(s, std::pair(known.first, stranger.second), of_ps.first);
        }));
    }
    std::this_thread::sleep_for(300ms);
    zmq_transport a({.security = {"worker/0", known.first, known.second, allowed, "ps/0"}});
    a.send(a.connect(address, [](auto, auto) {}), text("known"));
    CHECK(got.becomes("worker/0:known "));
    std::this_thread::sleep_for(100ms);
    CHECK(got.now() == "worker/0:known ");
}

TEST_CASE("zmq transport: G17: strangers are not heard while the handler of keys is slow, nor after its end") {
    const auto of_ps = make_key_pair(), known = make_key_pair(), stranger = make_key_pair();
    const std::vector<std::pair<std::string, std::string>> allowed{{"ps/0", of_ps.first}, {"worker/0", known.first}};
    const auto rounds = seeds::from_environment("RILL_ROUNDS", 3);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        record got;
        watched<bool> goes_on;
        zmq_transport b({.security = {"ps/0", of_ps.first, of_ps.second, allowed}});
        const auto address = b.listen("127.0.0.1:0", [&](transport::connection from, message_parts m) {
            got += b.identity(from) + ":" + std::string(m.at(0).bytes()) + " ";
            goes_on.comes(is_true); // the thread that checks keys is here
        });
        zmq_transport a({.security = {"worker/0", known.first, known.second, allowed, "ps/0"}}), plain,
            other({.security = {"worker/0", stranger.first, stranger.second, allowed, "ps/0"}});
        const auto nothing = [](auto, auto) {};
        a.send(a.connect(address, nothing), text("known"));
        CHECK(got.becomes("worker/0:known "));
        plain.send(plain.connect(address, nothing), text("plain"));
        other.send(other.connect(address, nothing), text("stranger"));
        std::this_thread::sleep_for(100ms);
        CHECK(got.now() == "worker/0:known ");
        goes_on.set(true);
        zmq_transport late({.security = {"worker/0", known.first, known.second, allowed, "ps/0"}});
        late.send(late.connect(address, nothing), text("late"));
        CHECK(got.becomes("worker/0:known worker/0:late "));
        b.close();
        late.send(late.connect(address, nothing), text("too late"));
        other.send(other.connect(address, nothing), text("stranger"));
        std::this_thread::sleep_for(20ms);
        CHECK(got.now() == "worker/0:known worker/0:late ");
    }
}

TEST_CASE("zmq transport: G14: the handler of keys answers every request, whatever it holds", "[random]") {
    const auto keys = make_key_pair();
    zmq::context_t context;
    detail::zmq_key_check check({"ps/0", keys.first, keys.second, {{"worker/0", keys.first}}});
    check.serve(context);
    std::string key(32, '\0');
    REQUIRE(zmq_z85_decode(reinterpret_cast<std::uint8_t*>(key.data()), keys.first.c_str()));
    zmq::socket_t asks(context, zmq::socket_type::req);
    asks.set(zmq::sockopt::linger, 0);
    asks.connect("inproc://zeromq.zap.01");
    seeds::each(200, [&](std::uint64_t seed) {
        seeds::draws draws(seed);
        std::vector<std::string> q{"1.0", std::to_string(seed), "rill", "127.0.0.1", "", "CURVE", key};
        const bool is_valid = draws(4) == 0;
        if (!is_valid) {
            for (auto n = 1 + draws(3); n > 0; --n) {
                auto& part = q[draws(q.size())];
                part.resize(draws(40));
                for (auto& c : part) c = static_cast<char>(draws(256));
            }
            q.resize(1 + draws(10));
        }
        for (std::size_t i = 0; i < q.size(); ++i)
            asks.send(zmq::buffer(q[i]), i + 1 < q.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
        check.answer();
        std::vector<std::string> reply;
        zmq::message_t frame;
        do {
            REQUIRE(asks.recv(frame, zmq::recv_flags::dontwait));
            reply.emplace_back(static_cast<const char*>(frame.data()), frame.size());
        } while (frame.more());
        REQUIRE(reply.size() == 6);
        const bool is_known = q.size() == 7 && q[0] == "1.0" && q[5] == "CURVE" && q[6] == key;
        CHECK(is_known >= is_valid);
        CHECK(reply[1] == (q.size() > 1 ? q[1] : ""));
        CHECK(reply[2] == (is_known ? "200" : "400"));
        CHECK(reply[4] == (is_known ? "worker/0" : ""));
    });
    check.close();
}

TEST_CASE("zmq transport: a listener that lets strangers in is found") {
    const auto keys = make_key_pair();
    zmq::context_t context;
    zmq::socket_t open(context, zmq::socket_type::router); // CURVE, and nobody who looks at keys
    open.set(zmq::sockopt::linger, 0);
    open.set(zmq::sockopt::curve_server, true);
    open.set(zmq::sockopt::curve_publickey, keys.first);
    open.set(zmq::sockopt::curve_secretkey, keys.second);
    open.bind("tcp://127.0.0.1:*");
    CHECK_FALSE(detail::refuses_strangers(open.get(zmq::sockopt::last_endpoint), keys.first));
    zmq_transport ours({.security = {"ps/0", keys.first, keys.second, {{"ps/0", keys.first}}}});
    CHECK(detail::refuses_strangers(ours.listen("127.0.0.1:0", [](auto, auto) {}), keys.first));
}

TEST_CASE("zmq transport: over a socket of the file system") {
    const io_test::temporary_directory folder;
    record got;
    zmq_transport b, a;
    const auto address = b.listen("ipc://" + folder / "task",
                                  [&](transport::connection from, message_parts m) { b.send(from, std::move(m)); });
    CHECK(address == "ipc://" + folder / "task");
    const auto to = a.connect(address, [&](auto, message_parts m) { got += m.at(0).bytes(); });
    a.send(to, text("there and back"));
    CHECK(got.becomes("there and back"));
    CHECK_FALSE(b.needs_checksums());
}

} // namespace test_zmq_transport
#endif
