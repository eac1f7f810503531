// SPDX-License-Identifier: BSD-3-Clause
// Sessions of several clients that share variables and queues of a server by containers: a counter that several programs' graphs count up,
// values that stay when the session that wrote them is gone, and a reset that spares other containers. The server is a process of its own.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace {

/// What each client builds for itself: a graph of its own, with state in a container of the server.
struct part {
    explicit part(const std::string& container) {
        const graph_scope here(g);
        const container_scope owned(container);
        const variable<int> visits("visits", 0);
        start = visits.initializer();
        now = visits;
        visit = visits.assign_add(1);
        const fifo_queue<tensor<std::string>> letters({.capacity = 10, .shared_name = "letters"});
        text = placeholder<std::string>("text");
        send = letters.enqueue(text);
        receive = letters.dequeue();
    }
    graph g;
    operation start, send;
    tensor<int> now, visit;
    tensor<std::string> text, receive;
};

/// Initialises, counts up from four sessions at once, and leaves a letter.
void visit_museum(const std::string& target) {
    const part first("museum"), second("museum"), elsewhere("theatre");
    const session opens(first.g, {.target = target}), stage(elsewhere.g, {.target = target});
    opens.run(first.start); // waits until the server has started
    stage.run(elsewhere.start);
    stage.run(elsewhere.visit);
    std::vector<std::thread> visitors;
    for (int k = 0; k < 4; ++k)
        visitors.emplace_back([&] {
            const session s(second.g, {.target = target}); // another graph, another session: the same counter
            for (int i = 0; i < 250; ++i) s.run(second.visit);
        });
    for (auto& v : visitors) v.join();
    std::printf("visits to the museum: %d\n", opens.run(first.now));
    expect(opens.run(first.now) == 1000, "no visit is lost");
    opens.run(first.send, feed(first.text, "the key is under the mat"));
}

/// Finds what is left of a client that has gone, and resets its container.
void close_museum(const std::string& target) {
    const part museum("museum"), elsewhere("theatre");
    const session later(museum.g, {.target = target});
    const auto letter = later.run(museum.receive);
    std::printf("a letter: %s; visits: %d\n", letter.c_str(), later.run(museum.now));
    expect(letter == "the key is under the mat" && later.run(museum.now) == 1000, "values outlive sessions");

    session::reset(target, {"museum"}, 5s);
    try {
        later.run(museum.now);
        expect(false, "a session of a container that was reset is closed");
    } catch (const cancelled& closed) {
        std::printf("after the reset: %s\n", closed.what());
    }
    const session fresh(museum.g, {.target = target}), stage(elsewhere.g, {.target = target});
    fresh.run(museum.start);
    const int visits = fresh.run(museum.now), plays = stage.run(elsewhere.now);
    std::printf("visits to the museum: %d, to the theatre: %d\n", visits, plays);
    expect(visits == 0 && plays == 1, "the reset spared the other container");
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    if (argc == 2) { // the process that is started below
        server node(cluster_spec{{"town", {argv[1]}}}, "town", 0);
        node.join();
        return 0;
    }
    const auto at = free_addresses(1);
    const child_process town(argv[0], at);
    const std::string target = "tcp://" + at[0];
    visit_museum(target);
    close_museum(target);
}
