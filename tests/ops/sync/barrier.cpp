// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/sync/barrier.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_barrier {

TEST_CASE("barrier: runs of two sessions wait for one another, again and again") {
    const graph_scope here{graph()};
    const barrier b("b", {.parties = 4, .shared_name = "barrier_test_rounds"});
    const operation wait = b.arrive_and_wait();
    const session one, other;
    constexpr int threads = 4, rounds = 25;
    std::atomic<int> arrived{0};
    std::atomic<bool> early{false};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            for (int k = 0; k < rounds; ++k) {
                ++arrived;
                (t % 2 ? one : other).run(wait);
                if (arrived < threads * (k + 1)) early = true;
            }
        });
    for (auto& t : all) t.join();
    CHECK_FALSE(early);
    session::reset();
}

TEST_CASE("barrier: nodes of one run, and what comes after it") {
    const graph_scope here{graph()};
    const barrier b("b", {.parties = 2});
    const variable<float> v("v", 1.f);
    const operation first = b.arrive_and_wait(), second = b.arrive_and_wait();
    tensor<float> read;
    {
        const control_dependencies after(first);
        read = tensor(v * 10.f);
    }
    const session s;
    s.run(v.initializer());
    s.run(std::tuple(first, second));
    // another session's write between the start of the step and the barrier is seen behind it
    const tensor<float> change = v.assign(2.f);
    const auto meanwhile = host_call<float>([&](float x) { return s.run(change), x; }, constant(0.f));
    operation last;
    {
        const control_dependencies after(meanwhile);
        last = b.arrive_and_wait();
    }
    const auto [seen] = s.run(std::tuple(read, last));
    CHECK(seen == 20.f);
}

TEST_CASE("barrier: one whose run ends before has not arrived") {
    const graph_scope here{graph()};
    const barrier b("b", {.parties = 2});
    const operation wait = b.arrive_and_wait();
    const session s, hasty({.progress_timeout = std::chrono::milliseconds(20)});
    CHECK_THROWS_AS(s.run(wait, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
    CHECK_THROWS_AS(hasty.run(wait), deadline_exceeded);
    const cancellation_token token;
    std::thread ends([&] { CHECK_THROWS_AS(s.run(wait, {.cancel = token}), cancelled); });
    token.cancel();
    ends.join();
    std::thread other([&] { s.run(wait); });
    s.run(wait);
    other.join();
}

TEST_CASE("barrier: a failing step's arrival does not count for the next round") {
    const graph_scope here{graph()};
    const barrier b("b", {.parties = 2});
    const operation wait = b.arrive_and_wait();
    const auto fails = host_call<float>([](float) -> float { throw std::runtime_error("out of luck"); }, constant(0.f));
    const session s;
    CHECK_THROWS_WITH(s.run(std::tuple(fails, wait)), contains("out of luck"));
    CHECK_THROWS_AS(s.run(wait, {.timeout = std::chrono::milliseconds(20)}), deadline_exceeded);
}

TEST_CASE("barrier: what can't be is refused") {
    const graph_scope here{graph()};
    CHECK_THROWS_AS(barrier("b", {.parties = 0}), invalid_argument);
    CHECK_THROWS_WITH(barrier("b", {.parties = -1}), contains("-1"));
    const barrier two("two", {.parties = 1, .shared_name = "barrier_test"}),
        three("three", {.parties = 3, .shared_name = "barrier_test"});
    const session s;
    s.run(two.arrive_and_wait());
    CHECK_THROWS_WITH(s.run(three.arrive_and_wait()), contains("1 parties") && contains("3 parties"));
    CHECK(two.name() == "two");
    session::reset();
}

} // namespace test_ops_sync_barrier
