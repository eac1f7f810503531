// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/local_transport.hpp>

#include <mutex>

#include <rill/core/error.hpp>

#include "catch.hpp"
#include "virtual_environment.hpp"

using namespace rill;

namespace test_local_transport {

message_parts text(const std::string& t) { return {message_part(t)}; }

TEST_CASE("local transport: messages and answers, in order") {
    virtual_environment time(1);
    local_network net(time);
    const auto a = net.join(), b = net.join();
    std::string got, answers;
    b->listen("b", [&](transport::connection from, message_parts m) {
        got += m.at(0).bytes();
        b->send(from, text("<" + std::string(m[0].bytes()) + ">"));
    });
    CHECK_THROWS_AS(a->listen("b", [](auto, auto) {}), already_exists);
    transport::connection to = 0;
    to = a->connect("b", [&](transport::connection from, message_parts m) {
        CHECK(from == to);
        answers += m.at(0).bytes();
    });
    for (const auto* t : {"1", "2", "3"}) a->send(to, text(t));
    CHECK(got.empty()); // never within send
    time.run();
    CHECK(got == "123");
    CHECK(answers == "<1><2><3>");
    a->disconnect(to);
    a->send(to, text("4"));
    time.run();
    CHECK(got == "123");
}

TEST_CASE("local transport: a peer that comes later, and one that comes again") {
    virtual_environment time(2);
    local_network net(time);
    const auto a = net.join();
    const auto to = a->connect("b", [](auto, auto) {});
    a->send(to, text("lost"));
    time.run();
    transport::connection first = 0;
    std::string got;
    for (int life = 0; life < 2; ++life) {
        const auto b = net.join();
        b->listen("b", [&](transport::connection from, message_parts m) {
            CHECK(from != first); // another connection after a restart
            first = from;
            got += m.at(0).bytes();
        });
        a->send(to, text(std::to_string(life)));
        time.run();
        b->close();
        a->send(to, text("lost"));
        time.run();
    }
    CHECK(got == "01");
}

TEST_CASE("local transport: several threads send at once") {
    local_network net;
    const auto a = net.join(), b = net.join();
    std::mutex mutex;
    const auto all_here = environment::real().make_signal();
    std::vector<std::vector<int>> got(4);
    std::size_t count = 0;
    b->listen("b", [&](transport::connection, message_parts m) {
        const std::lock_guard lock(mutex);
        const auto t = m.at(0).bytes();
        got[static_cast<std::size_t>(t[0] - '0')].push_back(std::stoi(std::string(t.substr(1))));
        if (++count == 400) all_here->notify();
    });
    for (int i = 0; i < 4; ++i)
        environment::real().post([&, i, to = a->connect("b", [](auto, auto) {})] {
            for (int k = 0; k < 100; ++k) a->send(to, text(std::to_string(i) + std::to_string(k)));
        });
    std::unique_lock lock(mutex);
    while (count < 400) all_here->wait(lock, environment::time_point::max());
    for (const auto& one : got) CHECK(std::ranges::is_sorted(one));
}

TEST_CASE("local transport: what was sent before the end of a connection or of a task arrives") {
    virtual_environment time(3);
    local_network net(time);
    const auto a = net.join(), b = net.join();
    std::string got, answers;
    transport::connection back = 0;
    b->listen("b", [&](transport::connection from, message_parts m) {
        back = from;
        got += m.at(0).bytes();
    });
    const auto to = a->connect("b", [&](transport::connection, message_parts m) { answers += m.at(0).bytes(); });
    a->send(to, text("1"));
    time.run();
    b->send(back, text("goodbye"));
    b->close();
    b->send(back, text("too late"));
    a->send(to, text("nobody listens"));
    time.run();
    CHECK(answers == "goodbye");
    const auto again = net.join();
    again->listen("b", [&](transport::connection, message_parts m) { got += m.at(0).bytes(); });
    a->send(to, text("2"));
    a->send(to, text("3"));
    a->disconnect(to);
    a->send(to, text("4"));
    time.run();
    CHECK(got == "123");
}

} // namespace test_local_transport
