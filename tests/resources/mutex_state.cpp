// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/mutex_state.hpp>

#include <deque>

#include "catch.hpp"
#include "ops/sync/pretend_wait.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_ops_sync_mutex_state {

/// A step of a session that takes the mutex.
struct step {
    std::shared_ptr<cancellation> session;
    std::vector<std::function<void()>> on_failure = {};
    sync_test::pretend_wait wait = {};
    bool done = false;

    void acquire(detail::mutex_state& m) {
        step_context context;
        context.on_failure = &on_failure;
        done = m.acquire(session, &context, wait);
    }
    bool holds() const { return done || (wait.came() && !wait.problem()); }
    void fail() {
        for (const auto& undo : on_failure) undo();
    }
};

TEST_CASE("mutex_state: first come first served") {
    const auto m = std::make_shared<detail::mutex_state>("m");
    const auto s = std::make_shared<cancellation>();
    step a{s}, b{s}, c{s};
    a.acquire(*m);
    b.acquire(*m);
    c.acquire(*m);
    CHECK((a.done && !b.wait.came() && !c.wait.came()));
    m->release(s.get());
    CHECK((b.wait.came() && !c.wait.came()));
    m->release(s.get());
    CHECK(c.wait.came());
    m->release(s.get());
    CHECK_FALSE(m->is_held());
    CHECK_THROWS_AS(m->release(s.get()), failed_precondition);
}

TEST_CASE("mutex_state: a step says once what to do if it fails, however often it takes it") {
    const auto m = std::make_shared<detail::mutex_state>("m"), other = std::make_shared<detail::mutex_state>("other");
    const auto s = std::make_shared<cancellation>();
    step a{s};
    for (int k = 0; k < 100; ++k) {
        a.acquire(*m);
        m->release(s.get());
    }
    CHECK(a.on_failure.size() == 1);
    a.acquire(*other);
    CHECK(a.on_failure.size() == 2);
    a.fail();
    CHECK_FALSE(other->is_held());
    step b{s};
    b.acquire(*m); // of another step: stays
    a.fail();
    CHECK(m->is_held());
}

TEST_CASE("mutex_state: a session that has ended holds nothing") {
    const auto m = std::make_shared<detail::mutex_state>("m");
    const auto s = std::make_shared<cancellation>(), t = std::make_shared<cancellation>();
    step a{s}, b{t}, c{s};
    a.acquire(*m);
    b.acquire(*m);
    c.acquire(*m);
    CHECK_THROWS_AS(m->release(t.get()), failed_precondition);
    s->cancel();
    CHECK(b.holds());
    CHECK(c.wait.problem());
    step late{s};
    m->release(t.get());
    late.acquire(*m);
    CHECK_FALSE(m->is_held());
}

TEST_CASE("mutex_state: any schedule of takes, releases, failures, give-ups and ends of sessions loses nothing",
          "[random]") {
    seeds::each(200, [](std::uint64_t seed) {
        seeds::draws next(seed);
        const auto m = std::make_shared<detail::mutex_state>("m");
        std::vector<std::shared_ptr<cancellation>> sessions;
        for (int k = 0; k < 3; ++k) sessions.push_back(std::make_shared<cancellation>());
        std::deque<std::unique_ptr<step>> all;
        std::deque<step*> line; // the model
        step* holder = nullptr;
        const auto free = [&] {
            holder = line.empty() ? nullptr : line.front();
            if (holder) line.pop_front();
        };
        for (int k = 0; k < 60; ++k) {
            const auto s = sessions[next(sessions.size())];
            switch (next(6)) {
            case 0:
            case 1: {
                auto* now = all.emplace_back(std::make_unique<step>(step{s})).get();
                now->acquire(*m);
                if (holder)
                    line.push_back(now);
                else
                    holder = now;
                break;
            }
            case 2:
                if (holder && holder->session == s) {
                    m->release(s.get());
                    free();
                } else {
                    CHECK_THROWS_AS(m->release(s.get()), failed_precondition);
                }
                break;
            case 3:
                if (line.empty()) break;
                {
                    const auto at = line.begin() + static_cast<std::ptrdiff_t>(next(line.size()));
                    CHECK((*at)->wait.give_up());
                    (*at)->fail();
                    line.erase(at);
                }
                break;
            case 4:
                if (!holder) break;
                if (holder->wait.asked) CHECK_FALSE(holder->wait.give_up()); // it came
                holder->fail();
                free();
                break;
            default: {
                if (next(4) != 0) break;
                s->cancel();
                std::erase_if(line, [&](const step* w) { return w->session == s; });
                if (holder && holder->session == s) free();
                for (auto& one : sessions)
                    if (one == s) one = std::make_shared<cancellation>();
            }
            }
            REQUIRE(m->is_held() == (holder != nullptr));
            if (holder) REQUIRE(holder->holds());
            for (const auto* w : line) REQUIRE_FALSE(w->wait.came());
        }
    });
}

} // namespace test_ops_sync_mutex_state
