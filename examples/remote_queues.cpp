// SPDX-License-Identifier: BSD-3-Clause
// Queues that a server holds for clients that come and go: one client fills them, the next one finds what is left. Also a queue that
// a client's runner fills, data that is loaded once, and a reset that spares another container. The server is a process of its own.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace {

/// What the clients agree on: queues and data, by name, in two containers of the server. Each client builds it anew.
struct depot {
    explicit depot(const std::string& target) : s(g, {.target = target}) {}

    graph g;
    graph_scope here{g};
    container_scope orders{"orders"};
    fifo_queue<tensor<int>, tensor<std::string>> letters{{.capacity = 10, .shared_name = "letters"}};
    padding_fifo_queue<tensor<float, dyn>> rows{{.capacity = 10, .shared_name = "rows"}};
    random_shuffle_queue<tensor<int>> cards{
        {.capacity = 100, .min_after_dequeue = 0, .seed = 3, .shared_name = "cards"}};
    container_scope library{"library"};
    placeholder<float, 4, 2> given{"given"};
    variable<float, 4, 2> data{"data", given, {.trainable = false, .collections = {}}};
    session s;
};

void fill(const std::string& target) {
    const depot d(target);
    placeholder<int> number("number");
    placeholder<std::string> text("text");
    const auto write = d.letters.enqueue(number, text);
    for (int i = 0; i < 3; ++i)
        d.s.run(write, feed(number, i), feed(text, "letter " + std::to_string(i))); // a tuple goes in as one element
    d.s.run(d.letters.close());

    placeholder<float, dyn> row("row");
    const auto add = d.rows.enqueue(row);
    for (const std::vector<float>& r : {std::vector{1.f}, {2.f, 3.f}, {4.f, 5.f, 6.f}}) d.s.run(add, feed(row, r));

    d.s.run(d.cards.enqueue_many(range(0, 52)));
    d.s.run(d.data.initializer(), feed(d.given, xt::xtensor<float, 2>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
}

void empty(const std::string& target) {
    const depot d(target);
    const auto letter = d.letters.dequeue();
    for (int i = 0; i < 3; ++i) {
        const auto [number, text] = d.s.run(letter);
        std::printf("%d: %s\n", number, text.c_str());
        expect(number == i && text == "letter " + std::to_string(i), "letters come in the order in which they went");
    }
    try {
        d.s.run(letter);
        expect(false, "a closed queue ends by out_of_range, here too");
    } catch (const out_of_range& end) {
        std::printf("at the end: %s\n", end.what());
    }

    const auto batch = d.s.run(d.rows.dequeue_many<3>());
    expect(batch.shape(1) == 3 && batch(0, 1) == 0 && batch(1, 1) == 3 && batch(2, 2) == 6, "filled up with zeros");

    const auto drawn = d.s.run(d.cards.dequeue_many<52>());
    const std::set<int> different(drawn.begin(), drawn.end());
    std::printf("cards: %d %d %d, …\n", drawn(0), drawn(1), drawn(2));
    expect(different.size() == 52 && !std::is_sorted(drawn.begin(), drawn.end()), "each card once, mixed");

    const auto loaded = d.s.run(d.data); // nobody feeds it again
    expect(loaded(3, 1) == 7, "data stays on the server");
}

/// A queue runner of this process keeps a queue of the server full.
void run_producer(const std::string& target) {
    const graph g;
    const graph_scope here(g);
    const fifo_queue<tensor<float, 3>> noise({.capacity = 5});
    add_queue_runner(noise, {noise.enqueue(random_normal<float, 3>())});
    const auto some = noise.dequeue_many<4>();
    const session s(g, {.target = target});
    coordinator c;
    auto runners = start_queue_runners(s, c);
    for (int i = 0; i < 5; ++i) expect(s.run(some).shape(0) == 4, "the runner goes on");
    c.request_stop();
    c.join(runners);
}

void reset_orders(const std::string& target) {
    session::reset(target, {"orders"}, 5s);
    const depot d(target);
    expect(d.s.run(d.letters.size()) == 0 && d.s.run(d.cards.size()) == 0, "the queues are new");
    expect(d.s.run(d.data)(2, 0) == 4, "the other container was spared");
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    if (argc == 2) { // the process that is started below
        server node(cluster_spec{{"depot", {argv[1]}}}, "depot", 0);
        node.join();
        return 0;
    }
    const auto at = free_addresses(1);
    const child_process depot_server(argv[0], at);
    const std::string target = "tcp://" + at[0];
    fill(target); // waits until the server has started
    empty(target);
    run_producer(target);
    reset_orders(target);
}
