// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/semaphore.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_semaphore {

TEST_CASE("semaphore: permits are taken and given, by number or by tensor") {
    const graph_scope here{graph()};
    const semaphore s("s", {.count = 3});
    placeholder<int> n("n");
    const session run;
    CHECK(run.run(s.value()) == 3);
    run.run(s.acquire(2));
    CHECK(run.run(s.value()) == 1);
    run.run(s.acquire(n), feed(n, 1));
    CHECK(run.run(s.value()) == 0);
    run.run(s.release(n), feed(n, 3));
    CHECK(run.run(s.value()) == 3);
    CHECK(s.name() == "s");
}

TEST_CASE("semaphore: no more than its count are within at once") {
    const graph_scope here{graph()};
    const semaphore s("s", {.count = 2});
    std::atomic<int> within{0}, most{0};
    const operation take = s.acquire();
    operation work, give;
    {
        const control_dependencies after(take);
        work = host_call(
            [&](int) {
                const int now = ++within;
                for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {}
                std::this_thread::yield();
                --within;
            },
            constant(0));
    }
    {
        const control_dependencies after(work);
        give = s.release();
    }
    const session run;
    std::vector<std::thread> all;
    for (int t = 0; t < 6; ++t)
        all.emplace_back([&] {
            for (int k = 0; k < 20; ++k) run.run(give);
        });
    for (auto& t : all) t.join();
    CHECK((most >= 1 && most <= 2));
    CHECK(run.run(s.value()) == 2);
}

TEST_CASE("semaphore: what comes after it reads variables as they are then") {
    const graph_scope here{graph()};
    const semaphore s("s");
    const variable<float> v("v", 1.f);
    const operation take = s.acquire(), give = s.release();
    const tensor<float> change = v.assign(2.f);
    tensor<float> read;
    {
        const control_dependencies after(take);
        read = tensor(v * 10.f);
    }
    const session run;
    run.run(v.initializer());
    run.run(take);
    const auto meanwhile = host_call<float>([&](float x) { return run.run(change), run.run(give), x; }, constant(0.f));
    CHECK(run.run(std::tuple(read, meanwhile)) == std::tuple(20.f, 0.f));
}

TEST_CASE("semaphore: one that waits in vain leaves it as it was") {
    const graph_scope here{graph()};
    const semaphore s("s", {.count = 1});
    const operation take = s.acquire(2);
    const session run, hasty({.progress_timeout = std::chrono::milliseconds(20)});
    CHECK_THROWS_AS(run.run(take, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
    CHECK_THROWS_WITH(hasty.run(take), contains("progress_timeout") && contains("semaphore_acquire"));
    const cancellation_token token;
    token.cancel();
    CHECK_THROWS_AS(run.run(take, {.cancel = token}), cancelled);
    CHECK(run.run(s.value()) == 1);
    run.run(s.acquire());
    run.run(s.release());
}

TEST_CASE("semaphore: a step that fails gives back what it took") {
    const graph_scope here{graph()};
    const semaphore s("s", {.count = 3});
    const auto fails = s.critical(
        [&] {
            return host_call<float>([](float) -> float { throw std::runtime_error("out of luck"); }, constant(1.f));
        },
        2);
    const tensor<float> works = s.critical([] { return 1.f; }, constant(3));
    const operation take = s.acquire();
    session run;
    for (int k = 0; k < 3; ++k) {
        CHECK_THROWS_WITH(run.run(fails), contains("out of luck"));
        CHECK(run.run(s.value()) == 3);
        CHECK(run.run(works) == 1.f);
    }
    // cancelled between the two
    const fifo_queue<tensor<float>> never;
    const auto waits = s.critical([&] { return never.dequeue(); });
    CHECK_THROWS_AS(run.run(waits, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
    CHECK(run.run(s.value()) == 3);
    // a step that ends well has them taken for good
    run.run(take);
    CHECK(run.run(s.value()) == 2);
    // in a loop, in an iteration that is not the first
    const auto loop = while_loop(
        [](auto i) { return i < 10; },
        [&](auto i) {
            return s.critical([&] {
                return host_call<int>([](int k) { return k == 4 ? throw std::runtime_error("five") : k + 1; }, i);
            });
        },
        0);
    CHECK_THROWS_WITH(run.run(loop), contains("five"));
    CHECK(run.run(s.value()) == 2);
}

TEST_CASE("semaphore: a session that closes while a step has permits") {
    const graph_scope here{graph()};
    const semaphore s("s", {.count = 1, .shared_name = "semaphore_test_closes"});
    const fifo_queue<tensor<float>> never;
    const auto waits = s.critical([&] { return never.dequeue(); });
    const session stays;
    session goes;
    bool ended = false;
    std::thread in_vain([&] {
        try {
            goes.run(waits);
        } catch (const cancelled&) {
            ended = true;
        }
    });
    while (stays.run(s.value()) == 1) std::this_thread::yield();
    goes.close();
    in_vain.join();
    CHECK(ended);
    CHECK(stays.run(s.value()) == 1);
    session::reset();
}

TEST_CASE("semaphore: what can't be is refused") {
    const graph_scope here{graph()};
    CHECK_THROWS_AS(semaphore("s", {.count = 0}), invalid_argument);
    CHECK_THROWS_WITH(semaphore("s", {.count = -2}), contains("-2") && contains("1 or more"));
    const semaphore s("s");
    placeholder<int> n("n");
    const session run;
    CHECK_THROWS_AS(run.run(s.acquire(n), feed(n, 0)), invalid_argument);
    CHECK_THROWS_WITH(run.run(s.release(n), feed(n, -1)), contains("-1"));
    CHECK_THROWS_AS(s.acquire(constant(1.f)), invalid_argument);
    CHECK_THROWS_AS(s.acquire(constant({1, 2})), invalid_argument);
    const semaphore two("two", {.count = 2, .shared_name = "semaphore_test"}),
        three("three", {.count = 3, .shared_name = "semaphore_test"});
    CHECK(run.run(two.value()) == 2);
    CHECK_THROWS_WITH(run.run(three.value()), contains("semaphore of 2") && contains("semaphore of 3"));
    session::reset();
}

} // namespace test_ops_sync_semaphore
