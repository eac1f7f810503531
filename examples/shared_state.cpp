// SPDX-License-Identifier: BSD-3-Clause
// Sessions that share variables and queues by containers: a counter that several programs' graphs count up, values that stay when
// the session that wrote them is gone, and a reset that spares other containers.
#include <cstdio>
#include <thread>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

/// What each part of a larger program would build for itself: a graph of its own, with state in a container of the process.
struct part {
    explicit part(const std::string& container) {
        const graph_scope here(g);
        const container_scope owned(container);
        const variable<int> visits("visits", 0);
        start = visits.initializer();
        now = visits;
        visit = visits.assign_add(1);
        const fifo_queue<tensor<std::string>> letters({.capacity = 10, .name = "letters"});
        text = placeholder<std::string>("text");
        send = letters.enqueue(text);
        receive = letters.dequeue();
    }
    graph g;
    operation start, send;
    tensor<int> now, visit;
    tensor<std::string> text, receive;
};

} // namespace

int main() {
    const part first("museum"), second("museum"), elsewhere("theatre");
    {
        const session opens(first.g), stage(elsewhere.g);
        opens.run(first.start);
        stage.run(elsewhere.start);
        stage.run(elsewhere.visit);
        std::vector<std::thread> visitors;
        for (int k = 0; k < 4; ++k)
            visitors.emplace_back([&] {
                const session s(second.g); // another graph, another session: the same counter
                for (int i = 0; i < 250; ++i) s.run(second.visit);
            });
        for (auto& v : visitors) v.join();
        std::printf("visits to the museum: %d\n", opens.run(first.now));
        expect(opens.run(first.now) == 1000, "no visit is lost");
        opens.run(first.send, feed(first.text, "the key is under the mat"));
    }
    {
        const session later(second.g); // the sessions above are gone
        const auto letter = later.run(second.receive);
        std::printf("a letter: %s; visits: %d\n", letter.c_str(), later.run(second.now));
        expect(letter == "the key is under the mat" && later.run(second.now) == 1000, "values outlive sessions");

        session::reset("", {"museum"});
        try {
            later.run(second.now);
            expect(false, "a session of a container that was reset is closed");
        } catch (const cancelled& closed) {
            std::printf("after the reset: %s\n", closed.what());
        }
    }
    const session fresh(first.g), stage(elsewhere.g);
    fresh.run(first.start);
    std::printf("visits to the museum: %d, to the theatre: %d\n", fresh.run(first.now), stage.run(elsewhere.now));
    expect(fresh.run(first.now) == 0 && stage.run(elsewhere.now) == 1, "the reset spared the other container");
    session::reset();
}
