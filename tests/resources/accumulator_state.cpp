// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/accumulator_state.hpp>

#include <deque>

#include "catch.hpp"
#include "ops/sync/pretend_wait.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_ops_sync_accumulator_state {

void add(const void* g, void* sum, index_t n) {
    for (index_t i = 0; i < n; ++i) static_cast<int*>(sum)[i] += static_cast<const int*>(g)[i];
}
void divide(void* sum, std::int64_t by, index_t n) {
    for (index_t i = 0; i < n; ++i) static_cast<int*>(sum)[i] /= static_cast<int>(by);
}
any_array number(const int& x) { return any_array(dtype::int32, dims{}, &x, nullptr); }

TEST_CASE("accumulator_state: gradients of another shape than those before are refused") {
    const auto a =
        std::make_shared<detail::accumulator_state>("a", detail::accumulator_traits{{dtype::int32, dims{dyn}}, "SUM"});
    const int all[] = {1, 2, 3};
    a->apply(any_array(dtype::int32, dims{2}, all, nullptr), 0, add);
    CHECK_THROWS_AS(a->apply(any_array(dtype::int32, dims{3}, all, nullptr), 0, add), invalid_argument);
    CHECK_THROWS_AS(a->apply(any_array(dtype::int32, dims{}, all, nullptr), 0, add), invalid_argument);
    CHECK_THROWS_AS(a->apply(any_array(dtype::float32, dims{2}, all, nullptr), 0, add), invalid_argument);
    any_array out;
    sync_test::pretend_wait wait;
    CHECK_THROWS_WITH(a->take({dtype::int32, dims{2, 2}}, 1, divide, wait, &out), contains("not int32 [2, 2]"));
    CHECK_THROWS_AS(a->take({dtype::float64, dims{2}}, 1, divide, wait, &out), invalid_argument);
    CHECK(a->take({dtype::int32, dims{2}}, 1, divide, wait, &out));
    CHECK(out.elements<int>()[1] == 2);
    a->apply(any_array(dtype::int32, dims{3}, all, nullptr), 1, add); // empty: any shape that fits
    CHECK(a->count().accumulated == 1);
}

TEST_CASE("accumulator_state: any schedule of gradients, takes and give-ups loses none", "[random]") {
    seeds::each(200, [](std::uint64_t seed) {
        seeds::draws next(seed);
        const auto a =
            std::make_shared<detail::accumulator_state>("a", detail::accumulator_traits{{dtype::int32, dims{}}, "SUM"});
        struct taker {
            index_t n;
            sync_test::pretend_wait wait = {};
        };
        std::deque<taker> all;
        std::deque<taker*> line;
        std::int64_t step = 0, dropped = 0, held = 0;
        int sum = 0, given = 0, got = 0;
        const auto serve = [&] { // the first in line, if there is enough for it
            if (!line.empty() && line.front()->n <= held) {
                REQUIRE(line.front()->wait.came());
                got += line.front()->wait.outputs()[0].value<int>();
                line.pop_front();
                sum = 0;
                held = 0;
                ++step;
            }
        };
        for (int k = 0; k < 80; ++k) {
            switch (next(4)) {
            case 0:
            case 1: {
                const int g = static_cast<int>(next(100));
                const std::int64_t local = step - static_cast<std::int64_t>(next(2));
                a->apply(number(g), local, add);
                if (local < step) {
                    ++dropped;
                    break;
                }
                sum += g;
                given += g;
                ++held;
                serve();
                break;
            }
            case 2: {
                auto& now = all.emplace_back(taker{static_cast<index_t>(next(3) + 1)});
                any_array out;
                const bool at_once = line.empty() && now.n <= held;
                REQUIRE(a->take({dtype::int32, dims{}}, now.n, divide, now.wait, &out) == at_once);
                if (!at_once) {
                    line.push_back(&now);
                    break;
                }
                got += out.value<int>();
                sum = 0;
                held = 0;
                ++step;
                break;
            }
            default:
                if (line.empty()) break;
                const auto at = line.begin() + static_cast<std::ptrdiff_t>(next(line.size()));
                REQUIRE((*at)->wait.give_up());
                line.erase(at);
                serve();
            }
            REQUIRE(a->count().accumulated == held);
            REQUIRE(a->count().dropped == dropped);
            REQUIRE(got + sum == given);
        }
    });
}

} // namespace test_ops_sync_accumulator_state
