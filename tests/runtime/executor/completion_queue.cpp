// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/executor/completion_queue.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_runtime_step_events {

/// Takes the first that is ready, and counts.
struct first_come final : environment {
    time_point now() override { return {}; }
    std::size_t choose(std::size_t) override { return 0; }
    void wait(std::unique_lock<std::mutex>&, std::condition_variable&, std::chrono::nanoseconds) override { ++waited; }
    int waited = 0;
};

TEST_CASE("completion_queue: what is ready goes in the order that the environment says") {
    first_come around;
    const step_context context{.environment = &around};
    detail::completion_queue events(std::chrono::seconds(1), context);
    for (std::size_t k = 0; k < 3; ++k) events.add({nullptr, k});
    CHECK(events.next().number == 0);
    CHECK(events.next().number == 2); // its place was taken by the last
    CHECK(events.next().number == 1);
    CHECK(around.waited == 0);
}

TEST_CASE("completion_queue: what can be given up is, and what has come to its end is told apart") {
    const step_context context;
    detail::completion_queue events(std::chrono::seconds(1), context);
    CHECK(!events.give_up()); // nothing waits
    int asked = 0;
    bool can = false;
    const auto done = events.defer({nullptr, 0}, [&] {
        ++asked;
        return can;
    });
    CHECK(!events.give_up());
    can = true;
    CHECK(events.give_up());
    CHECK(asked == 2);
    CHECK(!events.give_up()); // it is gone
    const auto never = events.defer({nullptr, 1}, nullptr);
    CHECK(events.give_up());
    done(nullptr, {}); // nobody listens
}

TEST_CASE("completion_queue: a step that is cancelled goes no further") {
    std::atomic<bool> cancel{true};
    const step_context context{.cancel = &cancel};
    detail::completion_queue events(std::chrono::seconds(1), context);
    events.add({nullptr, 0});
    CHECK_THROWS_AS(events.next(), cancelled);
}

} // namespace test_runtime_step_events
