// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/coordinator.hpp>

#include <atomic>
#include <thread>

#include "catch.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_train_coordinator {

std::vector<coordinated_thread> two(const coordinator& c, const std::function<void()>& f,
                                    const std::function<void()>& g) {
    std::vector<coordinated_thread> all;
    all.push_back(c.start("one", f));
    all.push_back(c.start("two", g));
    return all;
}

TEST_CASE("coordinator: the first error ends all, and join throws it") {
    const coordinator c;
    auto threads = two(
        c, [] { throw not_found("the file is gone"); },
        [&] {
            c.wait_for_stop();
            throw internal("a later one");
        });
    CHECK_THROWS_WITH(c.join(threads), contains("the file is gone"));
    CHECK(threads.empty());
    CHECK(c.should_stop());
    CHECK(c.token().is_cancelled());
}

TEST_CASE("coordinator: the end of what is read is no error, nor is a stop that is asked for") {
    const coordinator c;
    CHECK(!c.should_stop());
    CHECK(!c.wait_for_stop(0s));
    c.join(two(c, [] { throw out_of_range("the end"); }, [&] { c.wait_for_stop(); }));
    CHECK(c.should_stop());
    c.clear_stop();
    CHECK(!c.should_stop());
    CHECK(!c.token().is_cancelled());
    c.request_stop();
    c.join(two(c, [] {}, [] {}));
    c.clear_stop();
    c.join(two(c, [] {}, [] {})); // all end by themselves
    CHECK(!c.should_stop());
    c.request_stop(invalid_argument("what"));
    CHECK_THROWS_AS(c.join(std::vector<coordinated_thread>()), invalid_argument);
}

TEST_CASE("coordinator: threads that don't end in time are named") {
    const coordinator c;
    std::atomic<bool> end{false};
    auto threads = two(
        c,
        [&] {
            while (!end) std::this_thread::yield();
        },
        [] {});
    c.request_stop();
    while (threads.size() > 1) c.join(threads, {.grace = 1ms, .ignore_live_threads = true});
    CHECK(threads[0].name() == "one");
    CHECK(threads[0].is_alive());
    CHECK_THROWS_WITH(c.join(threads, {.grace = 1ms}), contains("still alive: 'one'"));
    end = true;
    c.join(threads);
    CHECK(threads.empty());
}

TEST_CASE("coordinator: a thread that nobody joins is told to stop") {
    const coordinator c;
    {
        const auto t = c.start("waits", [&] { c.wait_for_stop(); });
    }
    CHECK(c.should_stop());
}

} // namespace test_train_coordinator
