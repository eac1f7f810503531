// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/channel.hpp>

#include <rill/distributed/local_transport.hpp>
#include <rill/distributed/responder.hpp>

#include "catch.hpp"
#include "distributed/simulator.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_channel {

using namespace rill::detail;
using namespace std::chrono_literals;

/// Returns the value of a call: few are so long that they go in chunks.
std::string value_of(std::size_t number) {
    return std::string(number % 17 == 3 ? 3'000'000 + number : number % 100, static_cast<char>('a' + number % 26));
}

/// A task that counts how often each request ran. Its counts outlive it, so that a test sees what a killed task has done.
struct counting_task {
    counting_task(simulator::simulated_world& world, const std::string& name, std::vector<int>& counts,
                  std::vector<environment::time_point>* ran_at = nullptr, const std::string& data_address = {})
        : task(world.start(name)), net(std::make_shared<simulator::simulated_net>(world, task)) {
        self = {"/job:ps/task:0", (task.draw() >> 32) + 1, "cluster"};
        answers = std::make_shared<responder>(
            net, task, self, health_options{},
            [this, &world, &counts, ran_at](incoming_request r, answer_function reply) {
                const auto number = std::stoul(r.meta);
                ++counts.at(number);
                if (ran_at) ran_at->at(number) = world.time.now();
                REQUIRE((r.payload.empty() || r.payload[0].bytes() == value_of(number)));
                if (world.draws(2) == 0) return reply(nullptr, {.meta = r.meta});
                task.post([this, &world, reply, text = r.meta] {
                    later.push_back(task.at(task.now_plus(std::chrono::milliseconds(world.draws(300))),
                                            [reply, text] { reply(nullptr, {.meta = text}); }));
                });
            });
        answers->listen("ps", data_address);
    }
    simulator::simulated_world::task& task;
    std::shared_ptr<transport> net;
    task_identity self;
    std::shared_ptr<responder> answers;
    std::vector<environment::timer> later;
};

struct calling_task {
    calling_task(simulator::simulated_world& world, const std::string& name)
        : task(world.start(name)), net(std::make_shared<simulator::simulated_net>(world, task)) {
        const task_identity self{name, (task.draw() >> 32) + 1, ""};
        to = std::make_shared<channel>(net, task, self, "ps", "/job:ps/task:0", health_options{});
    }
    simulator::simulated_world::task& task;
    std::shared_ptr<transport> net;
    std::shared_ptr<channel> to;
};

/// How a call ended: its answer, or the code of its error.
struct ending {
    int times = 0;
    error_code code = error_code::ok;
    std::string text;
    environment::time_point at{};
};

answer_function note(ending& e, environment* clock = nullptr) {
    return [&e, clock](const std::exception_ptr& problem, const wire_answer& a) {
        ++e.times;
        if (clock) e.at = clock->now();
        if (problem)
            std::tie(e.code, e.text) = described(problem);
        else
            e.text = a.meta;
    };
}

constexpr std::size_t calls_each = 12;

/// Several callers and a task that is killed, frozen, slow or cut off, on a network that breaks connections. Returns the log.
std::string run_faults(std::uint64_t seed) {
    simulator::simulated_world world(
        seed, {.reset_one_in = 1 + seed % 20, .latency = std::chrono::microseconds(seed % 3 * 30000 + 100)});
    auto& draws = world.draws;
    const std::size_t callers = 1 + draws(4);
    std::vector<int> counts(callers * calls_each);
    std::vector<ending> ends(counts.size());
    std::vector<environment::time_point> ran_at(counts.size()), deadlines(counts.size(), environment::time_point::max());
    std::vector<std::unique_ptr<counting_task>> lives;
    const std::string data_address = seed % 2 ? "ps.data" : "";
    lives.push_back(std::make_unique<counting_task>(world, "ps", counts, &ran_at, data_address));
    std::vector<std::unique_ptr<calling_task>> all;
    for (std::size_t i = 0; i < callers; ++i)
        all.push_back(std::make_unique<calling_task>(world, "client" + std::to_string(i)));
    for (std::size_t i = 0; i < counts.size(); ++i)
        world.after(std::chrono::milliseconds(draws(20000)), [&, i] {
            wire_request r{.method = wire_method::push, .meta = std::to_string(i)};
            if (draws(2)) deadlines[i] = world.time.now() + std::chrono::milliseconds(1 + draws(20000));
            r.deadline = deadlines[i];
            if (draws(2)) r.payload.emplace_back(value_of(i));
            all[i / calls_each]->to->call(std::move(r), note(ends[i], &world.time));
        });
    const auto lives_now = [&]() -> counting_task& { return *lives.back(); };
    for (auto left = draws(3); left > 0; --left)
        world.after(std::chrono::milliseconds(draws(20000)), [&] {
            const auto lasts = std::chrono::milliseconds(draws(12000));
            auto& there = lives_now().task;
            switch (draws(6)) {
            case 0:
                if (there.is_dead()) break;
                world.kill(lives_now().task);
                world.after(lasts, [&] {
                    lives.push_back(std::make_unique<counting_task>(world, "ps", counts, &ran_at, data_address));
                });
                break;
            case 1:
                world.freeze(there);
                world.after(lasts, [&] { world.thaw(there); });
                break;
            case 2:
                world.slow_down(there, std::chrono::milliseconds(draws(800)));
                world.after(lasts, [&] { world.slow_down(there, {}); });
                break;
            case 3:
                world.part_way("ps", "client0", true);
                world.after(lasts, [&] { world.part_way("ps", "client0", false); });
                break;
            case 4:
                world.part_way("client0", "ps", true);
                world.after(lasts, [&] { world.part_way("client0", "ps", false); });
                break;
            default: world.part("ps", "client0", true); world.after(lasts, [&] { world.part("ps", "client0", false); });
            }
        });
    world.time.run();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        INFO("call " << i << ": " << ends[i].text);
        CHECK(ends[i].times == 1);
        if (deadlines[i] != environment::time_point::max()) CHECK(ends[i].at <= deadlines[i] + 500ms);
        if (ends[i].code == error_code::ok) {
            CHECK(ends[i].text == std::to_string(i));
            CHECK(counts[i] == 1);
        } else {
            CHECK((ends[i].code == error_code::unavailable || ends[i].code == error_code::aborted ||
                   ends[i].code == error_code::deadline_exceeded));
            CHECK(contains("/job:ps/task:0").match(ends[i].text));
            const auto names = [&](const auto& life) {
                return contains(std::to_string(life->self.incarnation)).match(ends[i].text);
            };
            CHECK((std::ranges::any_of(lives, names) || contains("no connection was made").match(ends[i].text)));
            CHECK(counts[i] <= 1);
            // a task that was found dead, and wakes, does not run what it was asked before
            if (ends[i].code == error_code::unavailable && counts[i]) CHECK(ran_at[i] <= ends[i].at);
        }
    }
    return world.time.log;
}

TEST_CASE("channel: each call runs once and ends, whatever fails", "[random]") {
    seeds::each(40, [](std::uint64_t seed) {
        const auto log = run_faults(seed);
        CHECK(run_faults(seed) == log);
    });
}

TEST_CASE("channel: without faults every call is answered") {
    simulator::simulated_world world(1);
    std::vector<int> counts(300);
    std::vector<ending> ends(counts.size());
    counting_task ps(world, "ps", counts);
    calling_task client(world, "client");
    for (std::size_t i = 0; i < counts.size(); ++i)
        client.to->call({.method = wire_method::push, .meta = std::to_string(i)}, note(ends[i]));
    world.time.run();
    CHECK(counts == std::vector<int>(counts.size(), 1));
    for (const auto& e : ends) CHECK((e.times == 1 && e.code == error_code::ok));
    CHECK(client.to->health() == peer_health::alive);
    CHECK(client.to->incarnation() == ps.self.incarnation);
}

TEST_CASE("channel: a frozen peer is slow, then suspect, then dead") {
    simulator::simulated_world world(2);
    std::vector<int> counts(2);
    ending first, second;
    counting_task ps(world, "ps", counts);
    calling_task client(world, "client");
    client.to->call({.method = wire_method::push, .meta = "0"}, note(first));
    world.time.sleep(1s);
    CHECK(first.code == error_code::ok);
    world.freeze(ps.task);
    client.to->call({.method = wire_method::push, .meta = "1"}, note(second));
    world.time.sleep(2s);
    CHECK(client.to->health() == peer_health::slow);
    world.time.sleep(1500ms);
    CHECK(client.to->health() == peer_health::suspect);
    world.time.sleep(2s);
    CHECK(client.to->health() == peer_health::dead);
    CHECK(second.code == error_code::unavailable);
    CHECK_THAT(second.text, contains(std::to_string(ps.self.incarnation)));
}

TEST_CASE("channel: a peer that is cut off in one direction is dead, and runs what it was told once at most") {
    for (const bool hears : {false, true}) {
        simulator::simulated_world world(2);
        std::vector<int> counts(3);
        std::vector<ending> ends(counts.size());
        counting_task ps(world, "ps", counts);
        calling_task client(world, "client");
        const auto call = [&](std::size_t i) {
            client.to->call({.method = wire_method::push, .meta = std::to_string(i)}, note(ends[i], &world.time));
        };
        call(0);
        world.time.sleep(1s);
        CHECK(ends[0].code == error_code::ok);
        world.part_way(hears ? "ps" : "client", hears ? "client" : "ps", true);
        const auto cut = world.time.now();
        call(1);
        world.time.sleep(12s);
        CHECK(ends[1].code == error_code::unavailable);
        CHECK(ends[1].at - cut < 6s);
        CHECK(counts[1] == hears);
        world.part_way(hears ? "ps" : "client", hears ? "client" : "ps", false);
        call(2);
        world.time.run();
        CHECK(ends[2].code == error_code::ok);
        CHECK(counts == std::vector<int>{1, hears, 1});
    }
}

TEST_CASE("channel: arguments that no message can hold fail the call at once") {
    simulator::simulated_world world(6);
    calling_task client(world, "client");
    ending e;
    client.to->call({.method = wire_method::reset, .meta = std::string(wire_header::most_arguments + 1, 'x')}, note(e));
    CHECK(e.code == error_code::resource_exhausted);
    CHECK(e.times == 1);
}

TEST_CASE("channel: a call of a task that never starts ends after the time to connect") {
    simulator::simulated_world world(3);
    calling_task client(world, "client");
    ending e;
    client.to->call({.method = wire_method::status}, note(e));
    world.time.run();
    CHECK(e.code == error_code::unavailable);
    CHECK_THAT(e.text, contains("/job:ps/task:0"));
    CHECK(world.time.now().time_since_epoch() < 31s);
}

TEST_CASE("channel: a task that expects another incarnation fails the call") {
    simulator::simulated_world world(4);
    std::vector<int> counts(1);
    counting_task ps(world, "ps", counts);
    calling_task client(world, "client");
    ending e;
    client.to->call({.method = wire_method::push, .meta = "0", .incarnation = ps.self.incarnation + 1}, note(e));
    world.time.run();
    CHECK(e.code == error_code::aborted);
    CHECK(counts[0] == 0);
}

TEST_CASE("channel: a call of a task that has restarted unnoticed reaches its new incarnation") {
    simulator::simulated_world world(5);
    std::vector<int> counts(3);
    std::vector<ending> ends(counts.size());
    auto ps = std::make_unique<counting_task>(world, "ps", counts);
    calling_task client(world, "client");
    const auto call = [&](std::size_t i, std::uint64_t incarnation) {
        client.to->call({.method = wire_method::push, .meta = std::to_string(i), .incarnation = incarnation},
                        note(ends[i]));
        world.time.sleep(1s);
    };
    const auto before = ps->self.incarnation;
    call(0, before);
    CHECK(ends[0].code == error_code::ok);
    world.kill(ps->task);
    ps = nullptr; // its connections break
    counting_task again(world, "ps", counts);
    call(1, again.self.incarnation); // the master knows it, this channel does not
    CHECK(ends[1].code == error_code::ok);
    call(2, before);
    CHECK(ends[2].code == error_code::aborted);
    CHECK(counts == std::vector<int>{1, 1, 0});
    world.time.run();
}

TEST_CASE("channel: values wait until the peer has taken others") {
    simulator::simulated_world world(5);
    auto& at = world.start("ps");
    const auto net = std::make_shared<simulator::simulated_net>(world, at);
    std::vector<answer_function> open;
    std::size_t most = 0;
    const auto ps = std::make_shared<responder>(net, at, task_identity{"/job:ps/task:0", 9, ""}, health_options{},
                                                [&](const incoming_request& r, answer_function reply) {
                                                    if (r.method != wire_method::push) return reply(nullptr, {});
                                                    open.push_back(std::move(reply));
                                                    most = std::max(most, open.size());
                                                });
    ps->listen("ps");
    auto& other = world.start("client");
    const auto to = std::make_shared<channel>(std::make_shared<simulator::simulated_net>(world, other), other,
                                              task_identity{"client", 1, ""}, "ps", "/job:ps/task:0",
                                              health_options{.window = 250});
    std::vector<ending> ends(5);
    for (auto& e : ends) {
        wire_request r{.method = wire_method::push};
        r.payload.emplace_back(std::string(100, 'x'));
        to->call(std::move(r), note(e));
    }
    ending begins; // what the peer waits for to take values: it must not wait behind them
    wire_request step{.method = wire_method::run_part};
    step.payload.emplace_back(std::string(100, 'f'));
    to->call(std::move(step), note(begins));
    world.time.sleep(1s);
    CHECK(open.size() == 2); // 200 bytes
    CHECK(begins.times == 1);
    while (!open.empty()) {
        const auto reply = std::move(open.back());
        open.pop_back();
        reply(nullptr, {});
        world.time.sleep(1s);
    }
    CHECK(most == 2);
    for (const auto& e : ends) CHECK((e.times == 1 && e.code == error_code::ok));
}

TEST_CASE("channel: a value may wait for its turn, but its peer has to take it in time") {
    simulator::simulated_world world(11);
    auto& at = world.start("ps");
    std::vector<environment::timer> later;
    const auto ps = std::make_shared<responder>(
        std::make_shared<simulator::simulated_net>(world, at), at, task_identity{"/job:ps/task:0", 9, ""},
        health_options{}, [&](const incoming_request& r, const answer_function& reply) {
            if (r.meta == "never") return;
            later.push_back(at.at(at.now_plus(20s), [reply] { reply(nullptr, {}); }));
        });
    ps->listen("ps");
    auto& other = world.start("client");
    const auto to = std::make_shared<channel>(std::make_shared<simulator::simulated_net>(world, other), other,
                                              task_identity{"client", 1, ""}, "ps", "/job:ps/task:0",
                                              health_options{.window = 100});
    std::vector<ending> ends(3);
    for (std::size_t i = 0; i < ends.size(); ++i) { // one at a time: the second one waits for 20 s, the third for 40 s
        wire_request r{.method = wire_method::push, .meta = i == 2 ? "never" : "soon"};
        r.payload.emplace_back(std::string(100, 'x'));
        to->call(std::move(r), note(ends[i], &world.time));
    }
    world.time.sleep(200s); // not to the end: a request of the peer stays open
    CHECK((ends[0].code == error_code::ok && ends[1].code == error_code::ok));
    CHECK(ends[2].code == error_code::deadline_exceeded);
    CHECK(ends[2].at - ends[1].at > 29s);
    CHECK(ends[2].at - ends[1].at < 32s);
}

TEST_CASE("channel: more values than a task keeps requests open for") {
    simulator::simulated_world world(10);
    auto& at = world.start("ps");
    std::vector<environment::timer> later;
    const auto ps = std::make_shared<responder>(
        std::make_shared<simulator::simulated_net>(world, at), at, task_identity{"/job:ps/task:0", 9, ""},
        health_options{}, [&](const incoming_request&, const answer_function& reply) {
            later.push_back(at.at(at.now_plus(100ms), [reply] { reply(nullptr, {}); }));
        });
    ps->listen("ps");
    calling_task client(world, "client");
    std::vector<ending> ends(answer_table::most + 100);
    for (auto& e : ends) client.to->call({.method = wire_method::push}, note(e));
    world.time.run();
    for (const auto& e : ends) CHECK((e.times == 1 && e.code == error_code::ok));
}

TEST_CASE("channel: G3: a frozen peer that wakes does not run what it was asked before", "[random]") {
    seeds::each(20, [](std::uint64_t seed) {
        const auto run = [&] {
            simulator::simulated_world world(seed);
            auto& draws = world.draws;
            std::vector<int> counts(40);
            std::vector<ending> ends(counts.size());
            std::vector<environment::time_point> ran_at(counts.size());
            counting_task ps(world, "ps", counts, &ran_at);
            calling_task client(world, "client");
            for (std::size_t i = 0; i < counts.size(); ++i) // the first makes the connection
                world.after(std::chrono::milliseconds(draws(i == 0 ? 500 : 20000)), [&, i] {
                    client.to->call({.method = wire_method::push, .meta = std::to_string(i)},
                                    note(ends[i], &world.time));
                });
            world.after(std::chrono::milliseconds(1000 + draws(3000)), [&] { world.freeze(ps.task); });
            world.after(14s, [&] { world.thaw(ps.task); });
            world.time.run();
            std::size_t failed = 0, later = 0;
            for (std::size_t i = 0; i < counts.size(); ++i) {
                CHECK(ends[i].times == 1);
                failed += ends[i].code == error_code::unavailable;
                later += ends[i].code == error_code::ok && ends[i].at.time_since_epoch() > 14s;
                if (ends[i].code != error_code::ok && counts[i]) CHECK(ran_at[i] <= ends[i].at);
            }
            CHECK(failed > 0);
            CHECK(later > 0); // it is called again by itself
            return world.time.log;
        };
        const auto log = run();
        CHECK(run() == log);
    });
}

TEST_CASE("channel: long values go in chunks, and others overtake them") {
    for (const std::size_t breaks : {0, 12}) {
        simulator::simulated_world world(8, {.reset_one_in = breaks});
        auto& at = world.start("ps");
        std::vector<std::string> order;
        const auto ps = std::make_shared<responder>(std::make_shared<simulator::simulated_net>(world, at), at,
                                                    task_identity{"/job:ps/task:0", 9, ""}, health_options{},
                                                    [&](const incoming_request& r, const answer_function& reply) {
                                                        order.push_back(r.meta);
                                                        reply(nullptr, {.meta = r.meta, .payload = r.payload});
                                                    });
        ps->listen("ps");
        calling_task client(world, "client");
        std::string value(9'500'000, 'x');
        for (std::size_t i = 0; i < value.size(); i += 997) value[i] = static_cast<char>('a' + i % 26);
        std::string back;
        std::vector<ending> ends(4);
        const auto call = [&](std::size_t i, const std::string& name, const std::string& payload) {
            wire_request r{.method = payload.empty() ? wire_method::status : wire_method::push, .meta = name};
            if (!payload.empty()) r.payload = {message_part(payload), message_part(std::string("end"))};
            client.to->call(std::move(r), [&, i](const std::exception_ptr& problem, const wire_answer& a) {
                note(ends[i])(problem, a);
                if (i == 0 && a.payload.size() == 2) back = a.payload[0].bytes();
                if (i == 0) CHECK((a.payload.size() == 2 && a.payload[1].bytes() == "end"));
            });
        };
        call(0, "longest", value);
        call(1, "long", value.substr(0, 3'000'000));
        call(2, "short", "value");
        call(3, "control", "");
        world.time.run();
        for (const auto& e : ends) CHECK((e.times == 1 && e.code == error_code::ok));
        CHECK(back == value);
        REQUIRE(order.size() == 4);
        if (breaks == 0) CHECK(order == std::vector<std::string>{"control", "short", "long", "longest"});
        CHECK(client.to->bytes_sent() == value.size() + 3'000'000 + 5 + 9);
    }
}

TEST_CASE("channel: chunks come and go by the peer's address for data, or by the other one if nothing gets through") {
    for (const auto* where : {"nowhere", "beside", "shut at once", "shut later"}) {
        INFO(where);
        const std::string how = where;
        simulator::simulated_world world(9);
        auto& at = world.start("ps");
        const auto ps = std::make_shared<responder>(std::make_shared<simulator::simulated_net>(world, at), at,
                                                    task_identity{"/job:ps/task:0", 9, ""}, health_options{},
                                                    [&](const incoming_request& r, const answer_function& reply) {
                                                        reply(nullptr, {.meta = r.meta, .payload = r.payload});
                                                    });
        ps->listen("ps", how == "nowhere" ? "" : "ps.data");
        if (how == "shut at once") world.shut("ps.data");
        calling_task client(world, "client");
        const std::string value(7'500'000, 'x');
        for (int i = 0; i < 2; ++i) {
            std::string back;
            wire_request r{.method = wire_method::push};
            r.payload = {message_part(value)};
            client.to->call(std::move(r), [&](const std::exception_ptr& problem, const wire_answer& a) {
                CHECK(!problem);
                if (!a.payload.empty()) back = a.payload[0].bytes();
            });
            const auto begin = world.time.now();
            world.time.run();
            CHECK(back == value);
            CHECK(world.time.now() - begin < 10s);
            if (how == "shut later") world.shut("ps.data");
        }
        const auto sent = [&](const std::string& what) { return contains(what).match(world.time.log); };
        const bool beside = how == "beside" || how == "shut later", shared = how != "beside";
        CHECK(sent("took client -> ps 13 1 at ps.data") == beside); // a chunk
        CHECK(sent("took client -> ps 12 1 at ps.data") == beside); // asks for one
        CHECK((sent("took client -> ps 13 1 at ps\n") || sent("took client -> ps 13 2 at ps\n")) == shared);
    }
}

TEST_CASE("channel: a call that is given up ends soon, and its peer is told") {
    simulator::simulated_world world(9);
    auto& at = world.start("ps");
    std::vector<incoming_request> open;
    const auto ps = std::make_shared<responder>(
        std::make_shared<simulator::simulated_net>(world, at), at, task_identity{"/job:ps/task:0", 9, ""},
        health_options{}, [&](incoming_request r, const answer_function&) { open.push_back(std::move(r)); });
    ps->listen("ps");
    calling_task client(world, "client");
    ending e;
    const auto call = client.to->call({.method = wire_method::status}, note(e));
    world.time.sleep(1s);
    REQUIRE(open.size() == 1);
    client.to->give_up(call, std::make_exception_ptr(cancelled("enough")));
    world.time.sleep(500ms);
    CHECK(open[0].given_up->is_cancelled());
    CHECK((e.times == 1 && e.code == error_code::cancelled && e.text == "enough"));
}

} // namespace test_channel
