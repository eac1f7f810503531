// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/semaphore_state.hpp>

#include <deque>

#include "catch.hpp"
#include "ops/sync/pretend_wait.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_ops_sync_semaphore_state {

TEST_CASE("semaphore_state: all permits of a taker at once, in order") {
    const auto s = std::make_shared<detail::semaphore_state>("s", 3);
    sync_test::pretend_wait a, b, c;
    CHECK(s->acquire(2, nullptr, a));
    CHECK_FALSE(s->acquire(2, nullptr, b));
    CHECK_FALSE(s->acquire(1, nullptr, c)); // behind b
    CHECK(s->value() == 1);
    s->release(1, nullptr);
    CHECK((b.came() && !c.came()));
    s->release(1, nullptr);
    CHECK(c.came());
    CHECK(s->value() == 0);
    CHECK_THROWS_AS(s->acquire(0, nullptr, a), invalid_argument);
    CHECK_THROWS_WITH(s->release(-1, nullptr), contains("semaphore 's'") && contains("-1"));
    s->release(1, nullptr);
    CHECK_THROWS_AS(s->release(std::numeric_limits<index_t>::max(), nullptr), resource_exhausted);
    CHECK(s->value() == 1);
}

TEST_CASE("semaphore_state: what a step took and did not give back goes back if it fails") {
    const auto s = std::make_shared<detail::semaphore_state>("s", 3);
    std::vector<std::function<void()>> on_failure, of_other;
    step_context step, other;
    step.on_failure = &on_failure;
    other.on_failure = &of_other;
    sync_test::pretend_wait a, b, c, d;
    CHECK(s->acquire(1, &step, a));
    CHECK(s->acquire(2, &step, b));
    CHECK(on_failure.size() == 1); // once, however often it takes
    s->release(1, &step);
    s->release(1, &other); // took nothing: it gives what is nobody's
    CHECK(of_other.empty());
    CHECK(s->acquire(2, &other, c));
    CHECK_FALSE(s->acquire(2, nullptr, d));
    for (const auto& undo : on_failure) undo();
    CHECK(d.came());
    CHECK(s->value() == 0);
    for (const auto& undo : of_other) undo();
    CHECK(s->value() == 2);
    // one that gives more than it has taken
    CHECK(s->acquire(1, &other, a));
    s->release(5, &other);
    for (const auto& undo : of_other) undo();
    CHECK(s->value() == 6);
}

TEST_CASE("semaphore_state: any schedule of takes, releases and give-ups loses no permit", "[random]") {
    seeds::each(200, [](std::uint64_t seed) {
        seeds::draws next(seed);
        const auto s = std::make_shared<detail::semaphore_state>("s", 4);
        struct taker {
            index_t n;
            sync_test::pretend_wait wait = {};
        };
        std::deque<taker> all;
        std::deque<taker*> line; // the model
        index_t left = 4, taken = 0;
        const auto serve = [&] {
            while (!line.empty() && line.front()->n <= left) {
                left -= line.front()->n;
                taken += line.front()->n;
                REQUIRE(line.front()->wait.came());
                line.pop_front();
            }
        };
        for (int k = 0; k < 80; ++k) {
            const auto n = static_cast<index_t>(next(4) + 1);
            switch (next(3)) {
            case 0: {
                auto& now = all.emplace_back(taker{n});
                const bool at_once = line.empty() && n <= left;
                REQUIRE(s->acquire(n, nullptr, now.wait) == at_once);
                if (at_once)
                    left -= n, taken += n;
                else
                    line.push_back(&now);
                break;
            }
            case 1:
                if (taken < n) break;
                s->release(n, nullptr);
                taken -= n;
                left += n;
                serve();
                break;
            default:
                if (line.empty()) break;
                const auto at = line.begin() + static_cast<std::ptrdiff_t>(next(line.size()));
                REQUIRE((*at)->wait.give_up());
                line.erase(at);
                serve();
            }
            REQUIRE(s->value() == left);
            REQUIRE(left + taken == 4);
            for (const auto* w : line) REQUIRE_FALSE(w->wait.came());
        }
    });
}

} // namespace test_ops_sync_semaphore_state
