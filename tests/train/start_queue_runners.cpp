// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/start_queue_runners.hpp>

#include <atomic>
#include <numeric>
#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/train/saver.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

namespace test_train_start_queue_runners {

/// Five threads count up to 100, and the queue is closed then.
TEST_CASE("start_queue_runners: threads fill a queue until there is nothing left") {
    const graph_scope here{graph()};
    const variable<int> next("next", 0);
    const fifo_queue<tensor<int>> q({.capacity = 7});
    const auto put = q.enqueue(next.count_up_to(100));
    add_queue_runner(q, {put, put, put, put, put});
    const auto got = q.dequeue();
    const session s;
    s.run(next.initializer());
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    CHECK(threads.size() == 6);
    CHECK(start_queue_runners(s, c).empty()); // they are started
    std::vector<int> all;
    try {
        for (;;) {
            const int n = s.run(got);
            all.push_back(n);
        }
    } catch (const out_of_range&) {}
    c.request_stop();
    c.join(threads);
    std::sort(all.begin(), all.end());
    std::vector<int> wanted(100);
    std::iota(wanted.begin(), wanted.end(), 0);
    CHECK(all == wanted);
    CHECK(s.run(q.is_closed()));
}

TEST_CASE("start_queue_runners: a stop reaches who waits for room") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 2});
    add_queue_runner(q, {q.enqueue(1), q.enqueue(2)});
    const auto got = q.dequeue();
    const session s;
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    const int n = s.run(got);
    CHECK((n == 1 || n == 2));
    c.request_stop();
    c.join(threads);
    CHECK(s.run(q.is_closed()));
}

TEST_CASE("start_queue_runners: an error of one ends all") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 2});
    const auto fails = host_call<int>([]() -> int { throw data_loss("a bad record"); });
    add_queue_runner(q, {q.enqueue(fails), q.enqueue(1)});
    const session s;
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    CHECK(c.wait_for_stop());
    CHECK_THROWS_WITH(c.join(threads), contains("a bad record"));
}

TEST_CASE("start_queue_runners: a bad id is an error, and not the end of what is read") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<float>> q({.capacity = 100});
    variable<int> n("n", 0, {.trainable = false});
    add_queue_runner(q, {q.enqueue(gather<0>(tensor(zeros<float, 10>()), n.count_up_to(1000)))});
    const session s;
    s.run(global_variables_initializer());
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    CHECK_THROWS_WITH(c.join(threads), contains("id 10 at [] is outside [0, 10)"));
    CHECK(s.run(q.size()) == 10);
}

TEST_CASE("start_queue_runners: a session that ends takes its threads along") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 2});
    add_queue_runner(q, {q.enqueue(1)});
    const coordinator c;
    std::vector<coordinated_thread> threads;
    {
        const session s;
        threads = start_queue_runners(s, c);
    }
    CHECK_THROWS_AS(c.join(threads), cancelled);
}

TEST_CASE("start_queue_runners: a queue of several runners is closed when the last of all their threads ends") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 5});
    std::atomic<const coordinated_thread*> first = nullptr;
    const auto ends = host_call<int>([]() -> int { throw out_of_range("nothing to read"); });
    // The second runner begins when the first is over: had that closed the queue, nothing could be put into it.
    int k = 0;
    const auto late = host_call<int>([&]() -> int {
        while (!first.load() || first.load()->is_alive()) std::this_thread::yield();
        if (k == 3) throw out_of_range("nothing to read");
        return k++;
    });
    add_queue_runner(q, {q.enqueue(ends)});
    add_queue_runner(q, {q.enqueue(late)});
    const auto one = q.dequeue();
    const session s;
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    first = &threads.front();
    std::vector<int> got;
    CHECK_THROWS_AS(
        [&] {
            for (;;) got.push_back(s.run(one));
        }(),
        out_of_range);
    CHECK(got == std::vector{0, 1, 2});
    c.join(threads);
}

TEST_CASE("start_queue_runners: runners share what they read and put all of it in") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<int>> q({.capacity = 5});
    variable<int> n("n", 0, {.trainable = false});
    const auto put = q.enqueue(n.count_up_to(3));
    add_queue_runner(q, {put});
    add_queue_runner(q, {put});
    const session s;
    s.run(global_variables_initializer());
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    const auto one = q.dequeue();
    int sum = 0;
    CHECK_THROWS_AS(
        [&] {
            for (;;) sum += s.run(one);
        }(),
        out_of_range);
    CHECK(sum == 0 + 1 + 2);
    c.join(threads);
}

/// The numbers from 0 on, through two queues with a runner each. The second runner takes batches.
struct pipeline {
    graph g;
    graph_scope here{g};
    variable<int> next{"next", 0, {.trainable = false}};
    fifo_queue<tensor<int>> first{{.capacity = 3}}, second{{.capacity = 4}};
    tensor<int> got;
    session s{g};

    explicit pipeline(int count) {
        add_queue_runner(first, {first.enqueue(next.count_up_to(count))});
        add_queue_runner(second, {second.enqueue_many(first.dequeue_up_to(2) * 10)});
        got = second.dequeue();
    }
    /// Takes numbers until there are none, at most so many.
    std::vector<int> take(std::size_t most) {
        std::vector<int> all;
        try {
            while (all.size() < most) all.push_back(s.run(got));
        } catch (const out_of_range&) {}
        return all;
    }
};

TEST_CASE("start_queue_runners: a run saved while runners run gives each element once, in order") {
    constexpr int count = 40;
    std::vector<int> wanted;
    for (int i = 0; i < count; ++i) wanted.push_back(10 * i);
    const io_test::temporary_directory folder;
    for (std::size_t done = 0; done < 40; done += 3) {
        INFO("saved after " << done);
        std::vector<int> all;
        {
            pipeline p(count);
            p.s.run(p.next.initializer());
            const coordinator c;
            auto threads = start_queue_runners(p.s, c);
            all = p.take(done);
            if (done % 2 == 0) { // both runners wait for room, if there is anything left to read
                while (done < 24 && p.s.run(p.next) < static_cast<int>(done) + 9) std::this_thread::yield();
            }
            save(p.s, folder / "one.ckpt");
            save(p.s, folder / "two.ckpt"); // of the same state, as far as runners do not go on
            auto rest = p.take(1000);       // the saving run loses nothing either
            rest.insert(rest.begin(), all.begin(), all.end());
            CHECK(rest == wanted);
            c.request_stop();
            c.join(threads);
        }
        for (const char* file : {"one.ckpt", "two.ckpt"}) {
            pipeline p(count);
            load(p.s, folder / file);
            save(p.s, folder / "again.ckpt"); // before a runner has begun
            load(p.s, folder / "again.ckpt");
            const coordinator c;
            auto threads = start_queue_runners(p.s, c);
            auto rest = p.take(1000);
            rest.insert(rest.begin(), all.begin(), all.end());
            CHECK(rest == wanted);
            c.request_stop();
            c.join(threads);
        }
    }
}

TEST_CASE("start_queue_runners: the elements of waiting runners keep a resumed shuffle as it was") {
    const io_test::temporary_directory folder;
    struct shuffled {
        graph g;
        graph_scope here{g};
        variable<int> next{"next", 0, {.trainable = false}};
        random_shuffle_queue<tensor<int>> q{{.capacity = 8, .min_after_dequeue = 7, .seed = 5}};
        tensor<int> got;
        session s{g};

        shuffled() {
            add_queue_runner(q, {q.enqueue(next.count_up_to(1000))});
            got = q.dequeue();
        }
        std::vector<int> take(int n) { // each from a full queue
            std::vector<int> all;
            for (int i = 0; i < n; ++i) all.push_back(s.run(got));
            return all;
        }
    };
    std::vector<int> wanted;
    {
        shuffled a;
        a.s.run(a.next.initializer());
        const coordinator c;
        auto threads = start_queue_runners(a.s, c);
        a.take(20);
        save(a.s, folder / "m");
        wanted = a.take(50);
        c.request_stop();
        c.join(threads);
    }
    shuffled b;
    load(b.s, folder / "m");
    const coordinator c;
    auto threads = start_queue_runners(b.s, c);
    CHECK(b.take(50) == wanted);
    c.request_stop();
    c.join(threads);
}

TEST_CASE("start_queue_runners: a save waits for a step that computes, but not for one that waits for input") {
    const graph_scope here{graph()};
    const io_test::temporary_directory folder;
    const fifo_queue<tensor<int>> input({.capacity = 5}), output({.capacity = 5});
    std::atomic<bool> has_begun = false, saves = false;
    const auto slow = host_call<int>(
        [&](int n) {
            has_begun = true;
            while (!saves) std::this_thread::yield();
            return n + 1;
        },
        input.dequeue());
    add_queue_runner(output, {output.enqueue(slow)});
    const auto put = input.enqueue(7);
    const session s;
    const coordinator c;
    auto threads = start_queue_runners(s, c);
    save(s, folder / "before"); // the runner waits for input
    s.run(put);
    while (!has_begun) std::this_thread::yield();
    saves = true;
    save(s, folder / "after"); // the element is on its way
    CHECK(checkpoint_reader(folder / "after").tensors() != checkpoint_reader(folder / "before").tensors());
    const session resumed;
    load(resumed, folder / "after");
    CHECK(resumed.run(input.size()) == 0);
    CHECK(resumed.run(output.dequeue()) == 8);
    c.request_stop();
    c.join(threads);
}

} // namespace test_train_start_queue_runners
