// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/responder.hpp>

#include <rill/distributed/wire_meta.hpp>

#include "catch.hpp"
#include "distributed/simulator.hpp"

using namespace rill;

namespace test_responder {

using namespace rill::detail;
using namespace std::chrono_literals;

/// A responder, and a peer that writes its messages by hand.
struct fixture {
    simulator::simulated_world world{1};
    simulator::simulated_world::task &here = world.start("ps"), &there = world.start("peer");
    std::shared_ptr<simulator::simulated_net> net = std::make_shared<simulator::simulated_net>(world, here),
                                              peer = std::make_shared<simulator::simulated_net>(world, there);
    std::vector<incoming_request> requests;
    std::vector<answer_function> replies;
    std::vector<wire_message> got;
    std::shared_ptr<responder> answers =
        std::make_shared<responder>(net, here, task_identity{"ps", 7, "digest"}, health_options{},
                                    [this](incoming_request r, answer_function reply) {
                                        requests.push_back(std::move(r));
                                        replies.push_back(std::move(reply));
                                    });
    transport::connection to = 0;

    fixture() {
        answers->listen("ps");
        to = peer->connect(
            "ps", [this](transport::connection, const message_parts& m) { got.push_back(unpack_message(m).value()); });
    }
    wire_message message(wire_type type, std::uint64_t request = 0) {
        wire_message m;
        m.head.type = type;
        m.head.sender = 5;
        m.head.receiver = type == wire_type::hello ? 0 : 7;
        m.head.request = request;
        m.head.ack_below = 1;
        m.head.time_left = wire_header::no_deadline;
        m.head.sent_at = wire_clock(there.now());
        return m;
    }
    /// Lets all that is under way arrive.
    void settle() { world.time.settle(50ms); }
    /// Sends a message and returns what comes back.
    std::vector<wire_message> exchange(wire_message m) {
        got.clear();
        peer->send(to, pack_message(std::move(m), true));
        settle();
        return got;
    }
    std::vector<wire_message> greet(const std::string& whom = "ps", const std::string& cluster = "digest",
                                    const std::string& who = "peer") {
        auto m = message(wire_type::hello);
        m.meta = bytes_of_meta(hello_meta{who, whom, cluster});
        return exchange(m);
    }
};

TEST_CASE("responder: who says no hello is not served") {
    fixture f;
    const auto back = f.exchange(f.message(wire_type::request, 1));
    REQUIRE(back.size() == 1);
    CHECK(back[0].head.type == wire_type::refuse);
    CHECK(back[0].head.method == static_cast<std::uint32_t>(error_code::unauthenticated));
    CHECK(f.requests.empty());
}

TEST_CASE("responder: hello to another task or of another cluster is refused") {
    fixture f;
    CHECK(f.greet("other").at(0).head.type == wire_type::refuse);
    CHECK(f.greet("ps", "another").at(0).head.type == wire_type::refuse);
    CHECK(f.greet("ps", "").at(0).head.type == wire_type::welcome); // a client has no description
    CHECK(f.greet().at(0).head.sender == 7);
}

TEST_CASE("responder: nobody takes the place of a caller by its incarnation, nor has a name without end") {
    fixture f;
    CHECK(f.greet("ps", "digest", std::string(2000, 'x')).empty());
    CHECK(f.greet().at(0).head.type == wire_type::welcome);
    f.exchange(f.message(wire_type::request, 1));
    f.replies.at(0)(nullptr, {.meta = "a secret"});
    f.settle();
    f.greet("ps", "digest", "thief");
    CHECK(f.exchange(f.message(wire_type::request, 1)).at(0).head.type == wire_type::grant); // a request of its own
    CHECK(f.requests.at(1).caller == "thief");
    f.greet();
    CHECK(f.exchange(f.message(wire_type::request, 1)).at(0).meta == "a secret");
}

TEST_CASE("responder: requests are cancelled once their caller has all answers below a later number") {
    fixture f;
    f.greet();
    f.exchange(f.message(wire_type::request, 1));
    auto long_one = f.message(wire_type::request, 2); // its payload does not come
    long_one.head.flags = wire_header::is_chunked;
    long_one.payload.push_back(announced_sizes({message_part(std::string("a value"))}));
    f.exchange(long_one);
    auto next = f.message(wire_type::request, 3); // the messages that gave up the others are lost
    next.head.ack_below = 3;
    const auto back = f.exchange(next);
    REQUIRE(f.requests.size() == 2);
    CHECK(f.requests[0].given_up->is_cancelled());
    CHECK_FALSE(f.requests[1].given_up->is_cancelled());
    CHECK(back.at(0).head.type == wire_type::error); // request 2, of which nothing is kept
    CHECK(back.at(0).head.request == 2);
    CHECK(back.at(1).head.type == wire_type::grant);
}

TEST_CASE("responder: a request is accepted, runs once and is answered as often as it is asked") {
    fixture f;
    f.greet();
    CHECK(f.exchange(f.message(wire_type::request, 1)).at(0).head.type == wire_type::grant);
    CHECK(f.exchange(f.message(wire_type::request, 1)).at(0).head.type == wire_type::grant);
    REQUIRE(f.requests.size() == 1);
    f.replies[0](nullptr, {.meta = "answer"});
    f.settle();
    CHECK(f.exchange(f.message(wire_type::request, 1)).at(0).meta == "answer");
    CHECK(f.requests.size() == 1);
    CHECK(f.exchange(f.message(wire_type::grant, 1)).empty());
    CHECK(f.exchange(f.message(wire_type::request, 1)).empty()); // over
}

TEST_CASE("responder: messages for a former life do nothing") {
    fixture f;
    f.greet();
    auto m = f.message(wire_type::request, 1);
    m.head.receiver = 6;
    const auto back = f.exchange(m);
    CHECK(back.at(0).head.method == static_cast<std::uint32_t>(error_code::aborted));
    CHECK(f.requests.empty());
}

TEST_CASE("responder: malformed frames are counted, and the third ends the connection") {
    fixture f;
    f.greet();
    for (int i = 0; i < 3; ++i) f.peer->send(f.to, {message_part(std::string(96, 'x')), message_part()});
    f.settle();
    CHECK(f.answers->refused() == 3);
    CHECK(f.exchange(f.message(wire_type::ping)).at(0).head.type == wire_type::refuse);
}

TEST_CASE("responder: a caller whose arguments can't be read three times is cut off, and others are served") {
    fixture f;
    f.answers = nullptr;
    f.net->close();
    f.answers = std::make_shared<responder>(f.net, f.here, task_identity{"ps", 7, "digest"}, health_options{},
                                            [&](const incoming_request& r, const answer_function& reply) {
                                                (void)meta_of<names_meta>(r.meta);
                                                reply(nullptr, {});
                                            });
    f.answers->listen("ps");
    CHECK(f.greet().at(0).head.type == wire_type::welcome);
    std::uint64_t number = 0;
    const auto garbage = [&] {
        auto m = f.message(wire_type::request, ++number);
        m.meta = "no names";
        return f.exchange(m);
    };
    const auto code_of = [](const wire_message& m) { return static_cast<error_code>(m.head.method); };
    for (int i = 0; i < 2; ++i) CHECK(code_of(garbage().at(0)) == error_code::data_loss);
    f.world.time.sleep(61s); // two in a minute may be an accident
    for (int i = 0; i < 2; ++i) CHECK(code_of(garbage().at(0)) == error_code::data_loss);
    CHECK(f.exchange(f.message(wire_type::ping)).at(0).head.type == wire_type::pong);
    garbage();
    CHECK(f.answers->refused() == 5);
    const auto refused = f.greet();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].head.type == wire_type::refuse);
    CHECK(code_of(refused[0]) == error_code::permission_denied);
    CHECK(f.greet("ps", "digest", "another").at(0).head.type == wire_type::welcome);
}

TEST_CASE("responder: a pong tells the progress of the task") {
    fixture f;
    f.answers = nullptr;
    f.net->close();
    f.answers = std::make_shared<responder>(
        f.net, f.here, task_identity{"ps", 7, "digest"}, health_options{},
        [](const incoming_request&, const answer_function&) {}, 0, [] { return pong_meta{12, "step 3 runs"}; });
    f.answers->listen("ps");
    f.greet();
    const auto pong = f.exchange(f.message(wire_type::ping)).at(0);
    CHECK(pong.head.type == wire_type::pong);
    const auto told = meta_of<pong_meta>(pong.meta);
    CHECK((told.progress == 12 && told.oldest == "step 3 runs"));
}

TEST_CASE("responder: requests of a caller that is silent, or gives up, are cancelled") {
    fixture f;
    f.greet();
    f.exchange(f.message(wire_type::request, 1));
    f.exchange(f.message(wire_type::request, 2));
    f.exchange(f.message(wire_type::cancel, 1));
    CHECK(f.requests.at(0).given_up->is_cancelled());
    CHECK_FALSE(f.requests.at(1).given_up->is_cancelled());
    f.world.time.sleep(8s);
    CHECK(f.requests[1].given_up->is_cancelled());
    const auto cancels = [&](std::size_t i) {
        f.got.clear();
        f.replies.at(i)(std::make_exception_ptr(cancelled("the request was given up")), {});
        f.settle();
        return static_cast<error_code>(f.got.at(0).head.method);
    };
    CHECK(cancels(0) == error_code::cancelled);
    CHECK(cancels(1) == error_code::unavailable); // its caller has cancelled nothing
}

TEST_CASE("responder: a task that slept does not take its callers for silent") {
    fixture f;
    f.greet();
    f.exchange(f.message(wire_type::request, 1));
    f.world.freeze(f.here);
    f.world.time.sleep(20s);
    f.world.thaw(f.here);
    f.settle();
    CHECK_FALSE(f.requests.at(0).given_up->is_cancelled());
    f.world.time.sleep(8s);
    CHECK(f.requests.at(0).given_up->is_cancelled());
}

TEST_CASE("responder: a request that comes so late that its caller may have found the task dead does not run") {
    fixture f;
    f.greet();
    auto m = f.message(wire_type::request, 1);
    m.head.sent_at -= 3500;
    CHECK(f.exchange(m).empty());
    CHECK(f.requests.empty());
    CHECK(f.answers->late() == 1);
    m.head.sent_at += 3500; // sent again
    CHECK(f.exchange(m).size() == 1);
    CHECK(f.requests.size() == 1);
    auto timed = f.message(wire_type::request, 2);
    timed.head.sent_at -= 200;
    timed.head.time_left = 100;
    f.exchange(timed);
    CHECK(f.requests.size() == 1);
}

TEST_CASE("responder: payloads that arrive in chunks have a limit together") {
    fixture f;
    f.answers = nullptr;
    f.net->close();
    f.answers = std::make_shared<responder>(f.net, f.here, task_identity{"ps", 7, "digest"}, health_options{},
                                            [&](incoming_request r, answer_function reply) {
                                                f.requests.push_back(std::move(r));
                                                f.replies.push_back(std::move(reply));
                                            },
                                            12);
    f.answers->listen("ps");
    f.greet();
    const auto announce = [&](std::uint64_t number) {
        auto m = f.message(wire_type::request, number);
        m.head.flags = wire_header::is_chunked;
        m.payload.push_back(announced_sizes({message_part(std::string("ten bytes."))}));
        return f.exchange(m);
    };
    const auto chunk = [&](std::uint64_t number, std::uint64_t offset, const std::string& bytes) {
        auto c = f.message(wire_type::chunk, number);
        c.meta = bytes_of_meta(offset_meta{offset});
        c.payload.emplace_back(bytes);
        return f.exchange(c);
    };
    for (const std::uint64_t number : {1, 2}) CHECK(announce(number).at(0).head.type == wire_type::pull);
    CHECK(chunk(1, 0, "ten by").at(0).head.type == wire_type::pull);
    CHECK(chunk(2, 0, "ten by").at(0).head.type == wire_type::pull);
    const auto refused = chunk(2, 6, "tes."); // 16 bytes
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].head.type == wire_type::error);
    CHECK(static_cast<error_code>(refused[0].head.method) == error_code::resource_exhausted);
    chunk(1, 6, "tes."); // there is room again
    REQUIRE(f.requests.size() == 1);
    CHECK(f.requests[0].payload.at(0).bytes() == "ten bytes.");
}

TEST_CASE("responder: a payload in chunks is asked for piece by piece, and runs once it is complete") {
    fixture f;
    f.greet();
    const std::string value = "a long value";
    auto m = f.message(wire_type::request, 1);
    m.head.flags = wire_header::is_chunked;
    m.payload.push_back(announced_sizes({message_part(value)}));
    auto back = f.exchange(m);
    REQUIRE(back.size() == 1);
    CHECK(back[0].head.type == wire_type::pull);
    const auto chunk = [&](std::uint64_t offset, const std::string& bytes) {
        auto c = f.message(wire_type::chunk, 1);
        c.meta = bytes_of_meta(offset_meta{offset});
        c.payload.emplace_back(bytes);
        return f.exchange(c);
    };
    CHECK(chunk(4, "ng value").empty()); // not the next one
    back = chunk(0, "a lo");
    REQUIRE(back.size() == 1);
    CHECK(meta_of<offset_meta>(back[0].meta).offset == 4);
    back = f.exchange(m); // asked again: it says where to go on
    REQUIRE(back.size() == 1);
    CHECK((back[0].head.flags & wire_header::is_retry));
    CHECK(f.requests.empty());
    back = chunk(4, "ng value");
    REQUIRE(f.requests.size() == 1);
    CHECK(f.requests[0].payload.at(0).bytes() == value);
    CHECK(back.at(0).head.type == wire_type::grant);
}

} // namespace test_responder
