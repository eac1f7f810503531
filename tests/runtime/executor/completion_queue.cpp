// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/executor/completion_queue.hpp>

#include <vector>

#include <rill/runtime/options.hpp>

#include "catch.hpp"
#include "virtual_environment.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace test_runtime_completion_queue {

/// Notes the stages that complete.
struct counting_part final : detail::step_part {
    void on_completed(std::size_t stage, std::exception_ptr problem, std::vector<any_array>) override {
        completed.push_back(stage);
        failed += bool(problem);
    }
    std::string place_of_stage(std::size_t stage) const override { return "stage " + std::to_string(stage); }
    std::vector<std::size_t> completed;
    int failed = 0;
};

TEST_CASE("completion_queue: what is ready goes in the order that the environment says") {
    const step_context context; // the real environment takes what became ready last
    detail::completion_queue events(1s, context);
    CHECK(events.next().of == nullptr);
    counting_part part;
    for (std::size_t k = 0; k < 3; ++k) events.add({&part, k});
    CHECK(events.next().number == 2);
    CHECK(events.next().number == 1);
    CHECK(events.next().number == 0);
    CHECK(events.next().of == nullptr);
}

TEST_CASE("completion_queue: what can be given up is, and what has come to its end is told apart") {
    const step_context context;
    detail::completion_queue events(1s, context);
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
    cancellation session;
    const step_context context{.session = &session};
    detail::completion_queue events(1s, context);
    events.add({nullptr, 0});
    session.cancel();
    CHECK_THROWS_AS(events.next(), cancelled);
}

TEST_CASE("completion_queue: a step that leaves its thread is resumed once for each wait") {
    virtual_environment world(1);
    const step_context context{.environment = &world};
    int resumed = 0;
    counting_part part;
    detail::completion_queue events(forever, context, [&] { ++resumed; });
    const auto a = events.defer({&part, 0}, nullptr), b = events.defer({&part, 1}, nullptr),
               c = events.defer({&part, 2}, nullptr);
    CHECK_FALSE(events.wait_for_completions());
    a(nullptr, {});
    a(nullptr, {}); // the second time it is ignored
    b(std::make_exception_ptr(internal("no")), {});
    CHECK(resumed == 1);
    CHECK(events.wait_for_completions());
    CHECK(part.completed == std::vector<std::size_t>{0, 1});
    CHECK(part.failed == 1);
    c(nullptr, {}); // before the wait: nobody needs to be resumed
    CHECK(events.wait_for_completions());
    CHECK(part.completed.size() == 3);
    CHECK(resumed == 1);
}

TEST_CASE("completion_queue: cancellation, deadline and missing progress end a wait, with or without a thread") {
    for (const bool blocks : {true, false})
        for (const int how : {0, 1, 2}) {
            INFO("blocks " << blocks << ", how " << how);
            virtual_environment world(2);
            const auto session = std::make_shared<cancellation>(), token = std::make_shared<cancellation>();
            step_context context{.session = session.get(), .token = token.get(), .environment = &world};
            if (how == 1) context.deadline = world.now() + 3s;
            int resumed = 0;
            counting_part part;
            const auto resume = blocks ? std::function<void()>() : [&] { ++resumed; };
            detail::completion_queue events(how == 2 ? std::chrono::nanoseconds(4s) : forever, context, resume);
            const auto waiting = events.defer({&part, 7}, [] { return true; });
            const auto begin = world.now();
            if (how == 0) world.post([&] { token->cancel(); });
            if (!blocks) {
                REQUIRE_FALSE(events.wait_for_completions());
                world.run();
                CHECK(resumed == 1);
            }
            CHECK_THROWS_WITH(events.wait_for_completions(), contains("it waits for stage 7"));
            if (how == 1) CHECK(world.now() == begin + 3s);
            if (how == 2) CHECK(world.now() == begin + 4s);
            CHECK(world.ran() <= 2); // nobody looks now and then
        }
}

TEST_CASE("completion_queue: progress is counted from the last completion") {
    virtual_environment world(3);
    const step_context context{.environment = &world};
    counting_part part;
    std::vector<completion> all;
    detail::completion_queue events(2s, context, [] {});
    for (std::size_t i = 0; i < 4; ++i) all.push_back(events.defer({&part, i}, [] { return true; }));
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK_FALSE(events.wait_for_completions());
        world.sleep(1500ms);
        all[i](nullptr, {});
        CHECK(events.wait_for_completions());
    }
    CHECK_FALSE(events.wait_for_completions());
    const auto begin = world.now();
    world.sleep(1900ms);
    CHECK_FALSE(events.wait_for_completions()); // the timer of an earlier wait may have come
    world.sleep(200ms);
    CHECK_THROWS_AS(events.wait_for_completions(), deadline_exceeded);
    CHECK(world.now() - begin >= 2s);
}

TEST_CASE("completion_queue: a result that is on its way is not lost to a cancellation") {
    virtual_environment world(4);
    const auto token = std::make_shared<cancellation>();
    const step_context context{.token = token.get(), .environment = &world};
    counting_part part;
    detail::completion_queue events(forever, context);
    const auto coming = events.defer({&part, 0}, [] { return false; }); // it is completing
    token->cancel();
    world.post([&] { coming(nullptr, {}); });
    CHECK(events.wait_for_completions());
    CHECK(part.completed.size() == 1);
}

} // namespace test_runtime_completion_queue
