// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/keyed_barrier_state.hpp>

#include <deque>
#include <map>
#include <optional>
#include <set>

#include <rill/core/host_array.hpp>

#include "ops/sync/pretend_wait.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_ops_queue_keyed_barrier_state {

any_array keys_of(const std::vector<std::string>& k) {
    return detail::owned_copy(to_any_array<std::string>(k, dims{static_cast<index_t>(k.size())}));
}
any_array numbers(const std::vector<std::int64_t>& n) {
    return detail::owned_copy(to_any_array<std::int64_t>(n, dims{static_cast<index_t>(n.size())}));
}

TEST_CASE("keyed_barrier_state: what it says of itself, and what it refuses") {
    const std::vector<tensor_type> types{{dtype::int64, {}}, {dtype::float32, {2}}};
    const auto b = std::make_shared<detail::keyed_barrier_state>("b", types, default_allocator());
    CHECK(b->described() == "keyed_barrier of (int64 [], float32 [2])");
    CHECK_THROWS_WITH(b->insert_many(2, keys_of({"a"}), numbers({1})), contains("keyed_barrier 'b'"));
    CHECK_THROWS_AS(b->insert_many(1, keys_of({"a"}), numbers({1})), invalid_argument);
    CHECK_THROWS_AS(b->insert_many(0, numbers({1}), numbers({1})), invalid_argument);
    CHECK_THROWS_AS(b->insert_many(0, keys_of({"a"}), numbers({1, 2})), invalid_argument);
    CHECK(b->incomplete_size() == 0);
    sync_test::pretend_wait waits;
    CHECK_FALSE(b->take_many(1, false, waits, nullptr));
    b->abandon();
    CHECK_THROWS_AS(std::rethrow_exception(waits.problem()), cancelled);
}

/// Whatever the order of components, takers, give-ups and the close: each complete element leaves once, the oldest keys first, to takers in
/// their order; a model says who has come.
void run_schedule(std::uint64_t seed) {
    seeds::draws next(seed);
    const auto count = 1 + next(3);
    const auto b = std::make_shared<detail::keyed_barrier_state>(
        "b", std::vector<tensor_type>(count, {dtype::int64, {}}), default_allocator());
    struct taker {
        index_t n;
        bool small;
        sync_test::pretend_wait wait = {};
        std::vector<any_array> at_once = std::vector<any_array>(8);
        bool over = false;
    };
    std::deque<taker> takers;
    std::deque<taker*> line;
    std::map<std::string, std::pair<std::int64_t, std::set<std::size_t>>> incomplete;
    std::map<std::int64_t, std::string> ready;
    std::int64_t came = std::numeric_limits<std::int64_t>::min();
    bool closed = false, over = false;
    const auto value = [](std::int64_t when, std::size_t i) { return when % 1000 * 10 + static_cast<std::int64_t>(i); };
    std::map<std::string, std::int64_t> when_of;
    const auto check = [&](const taker& t, const std::vector<any_array>& out, std::size_t n) {
        REQUIRE(out.size() >= count + 2);
        for (std::size_t k = 0; k < n; ++k) {
            const auto first = ready.begin();
            REQUIRE(out[0].elements<std::int64_t>()[k] == first->first);
            REQUIRE(out[1].elements<std::string>()[k] == first->second);
            for (std::size_t i = 0; i < count; ++i)
                REQUIRE(out[2 + i].elements<std::int64_t>()[k] == value(first->first, i));
            ready.erase(first);
        }
        REQUIRE(out[0].size() == static_cast<index_t>(n));
        (void)t;
    };
    /// What the model says of the first in line: how many it gets, or that it fails; nothing: it waits.
    const auto served = [&](const taker& t) -> std::optional<index_t> {
        const auto left = static_cast<index_t>(ready.size());
        if (left >= t.n) return t.n;
        if (!closed) return std::nullopt;
        if (t.small) return left > 0 ? left : -1;
        if (left + (over ? 0 : static_cast<index_t>(incomplete.size())) >= t.n) return std::nullopt;
        return -1;
    };
    const auto serve = [&] {
        while (!line.empty()) {
            const auto n = served(*line.front());
            if (!n) break;
            auto& t = *line.front();
            REQUIRE(t.wait.came());
            REQUIRE((t.wait.problem() != nullptr) == (*n < 0));
            if (*n >= 0) check(t, t.wait.outputs(), static_cast<std::size_t>(*n));
            line.pop_front();
        }
        for (const auto* t : line) REQUIRE_FALSE(t->wait.came());
    };
    for (int step = 0; step < 60; ++step) {
        switch (next(8)) {
        case 0:
        case 1: {
            auto& t = takers.emplace_back(taker{static_cast<index_t>(next(4)), next(2) == 0});
            const auto n = line.empty() ? served(t) : std::nullopt;
            bool failed = false, done = false;
            try {
                done = b->take_many(t.n, t.small, t.wait, t.at_once.data());
            } catch (const out_of_range&) {
                failed = true;
            }
            REQUIRE(failed == (n && *n < 0));
            REQUIRE(done == (n && *n >= 0));
            if (done) {
                t.at_once.resize(count + 2);
                check(t, t.at_once, static_cast<std::size_t>(*n));
            } else if (!failed) {
                line.push_back(&t);
            }
            break;
        }
        case 2:
            if (line.empty()) break;
            {
                const auto at = line.begin() + static_cast<std::ptrdiff_t>(next(line.size()));
                REQUIRE((*at)->wait.give_up());
                line.erase(at);
            }
            break;
        case 3:
            if (next(10) > 0) break;
            {
                const bool all = next(2) == 0;
                const bool refused = closed && (over || !all);
                if (refused) {
                    CHECK_THROWS_AS(b->close(all), cancelled);
                } else {
                    b->close(all);
                    closed = true;
                    over = all;
                }
            }
            break;
        default: {
            const auto key = std::string(1, static_cast<char>('a' + next(6)));
            const auto i = next(count);
            const auto at = incomplete.find(key);
            const bool old = at != incomplete.end();
            const auto when = old ? at->second.first : came;
            const bool shut = over || (closed && !old), twice = old && at->second.second.contains(i);
            const auto put = [&] {
                b->insert_many(static_cast<index_t>(i), keys_of({key}), numbers({value(when, i)}));
            };
            if (shut) {
                CHECK_THROWS_AS(put(), cancelled);
            } else if (twice) {
                CHECK_THROWS_AS(put(), invalid_argument);
            } else {
                put();
                if (!old) incomplete[key] = {came++, {}};
                auto& parts = incomplete[key];
                parts.second.insert(i);
                if (parts.second.size() == count) {
                    ready[parts.first] = key;
                    incomplete.erase(key);
                }
            }
        }
        }
        serve();
        REQUIRE(b->ready_size() == static_cast<index_t>(ready.size()));
        REQUIRE(b->incomplete_size() == static_cast<index_t>(incomplete.size()));
    }
}

TEST_CASE("keyed_barrier_state: no schedule loses an element, doubles one, or leaves anybody waiting", "[random]") {
    seeds::each(2000, run_schedule);
}

} // namespace test_ops_queue_keyed_barrier_state
