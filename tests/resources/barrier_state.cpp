// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/barrier_state.hpp>

#include <deque>

#include "catch.hpp"
#include "ops/sync/pretend_wait.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_ops_sync_barrier_state {

TEST_CASE("barrier_state: all go on when the last has come, again and again") {
    const auto b = std::make_shared<detail::barrier_state>("b", 3);
    for (int round = 0; round < 3; ++round) {
        sync_test::pretend_wait one, two, three;
        b->arrive(one);
        b->arrive(two);
        CHECK((!one.came() && !two.came()));
        b->arrive(three);
        CHECK((one.came() && two.came() && three.came()));
    }
    const auto alone = std::make_shared<detail::barrier_state>("alone", 1);
    sync_test::pretend_wait none;
    CHECK(alone->arrive(none));
    CHECK(alone->arrive(none));
}

TEST_CASE("barrier_state: any schedule of arrivals and give-ups lets go of so many at once", "[random]") {
    seeds::each(200, [](std::uint64_t seed) {
        seeds::draws next(seed);
        constexpr std::size_t parties = 4;
        const auto b = std::make_shared<detail::barrier_state>("b", parties);
        std::deque<sync_test::pretend_wait> all;
        std::vector<sync_test::pretend_wait*> line;
        for (int k = 0; k < 80; ++k) {
            if (next(3) != 0 || line.empty()) {
                line.push_back(&all.emplace_back());
                b->arrive(*line.back());
                if (line.size() == parties) {
                    for (const auto* w : line) REQUIRE(w->came());
                    line.clear();
                }
            } else {
                const auto at = line.begin() + static_cast<std::ptrdiff_t>(next(line.size()));
                REQUIRE((*at)->give_up());
                line.erase(at);
            }
            for (const auto* w : line) REQUIRE_FALSE(w->came());
        }
    });
}

} // namespace test_ops_sync_barrier_state
