// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/staleness_state.hpp>

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "ops/sync/pretend_wait.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_resources_staleness_state {

using detail::staleness_state;

std::shared_ptr<staleness_state> make(index_t bound, index_t workers) {
    return std::make_shared<staleness_state>("c", detail::staleness_traits{bound, workers});
}

TEST_CASE("staleness_state: a fast worker waits for the slowest one, which never waits") {
    const auto clock = make(1, 2);
    sync_test::pretend_wait fast, slow;
    CHECK(clock->advance(0, nullptr, fast));
    CHECK_FALSE(clock->advance(0, nullptr, fast)); // two steps ahead
    CHECK(clock->advance(1, nullptr, slow));
    CHECK(fast.came());
    CHECK(clock->advance(1, nullptr, slow));
    CHECK(clock->advance(1, nullptr, slow));
    CHECK_FALSE(clock->advance(1, nullptr, slow));
    CHECK(clock->leave(0, nullptr) == 1); // nobody waits for it
    CHECK(slow.came());
}

TEST_CASE("staleness_state: workers without a number are told apart by session") {
    const auto clock = make(0, 2);
    auto one = std::make_shared<cancellation>();
    const auto two = std::make_shared<cancellation>(), three = std::make_shared<cancellation>();
    sync_test::pretend_wait a, b;
    CHECK_FALSE(clock->advance(-1, one, a));
    CHECK(clock->advance(-1, two, b));
    CHECK(a.came());
    CHECK_THROWS_WITH(clock->advance(-1, three, b), contains("2 workers already"));
    one->cancel(); // its session has ended: another one goes on for it
    CHECK_FALSE(clock->advance(-1, three, a));
    CHECK(clock->advance(-1, two, b));
    CHECK(a.came());
}

TEST_CASE("staleness_state: any schedule keeps the bound", "[random]") {
    seeds::each(50, [](std::uint64_t seed) {
        seeds::draws draw(seed);
        const index_t workers = 1 + static_cast<index_t>(draw(4)), bound = static_cast<index_t>(draw(3));
        const auto clock = make(bound, workers);
        std::vector<sync_test::pretend_wait> wait(static_cast<std::size_t>(workers));
        std::vector<std::int64_t> steps(wait.size());
        std::vector<bool> waits(wait.size());
        for (int k = 0; k < 200; ++k) {
            const auto w = draw(wait.size());
            if (waits[w] && !wait[w].came()) continue;
            wait[w] = {};
            ++steps[w];
            waits[w] = !clock->advance(static_cast<index_t>(w), nullptr, wait[w]);
            const auto least = *std::min_element(steps.begin(), steps.end());
            for (std::size_t i = 0; i < wait.size(); ++i)
                REQUIRE((waits[i] && !wait[i].came()) == (steps[i] - least > bound));
        }
    });
}

TEST_CASE("staleness_state: bad numbers are refused") {
    CHECK_THROWS_WITH((detail::staleness_traits{-1, 2}.check()), contains("-1 steps") && contains("2 workers"));
    CHECK_THROWS_AS((detail::staleness_traits{0, 0}.check()), invalid_argument);
    sync_test::pretend_wait wait;
    CHECK_THROWS_WITH(make(0, 2)->advance(2, nullptr, wait),
                      contains("staleness_clock 'c'") && contains("worker is 2"));
    CHECK(make(3, 2)->described() == "staleness_clock of 2 workers, bound 3");
}

} // namespace test_resources_staleness_state
