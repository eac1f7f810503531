// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/primitives/update.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_update {
struct step {
    template <class V>
    RILL_FN static void run(std::array<V, 2>& s, const std::array<V, 1>& in, const std::array<V, 1>& c) {
        s[1] = s[1] + in[0];
        s[0] = s[0] - c[0] * s[1];
    }
};
constexpr float half_rate = 0.5f;
} // namespace test_update

TEST_CASE("update: several arrays in one pass, in place or apart from the old ones, tails included") {
    for (const index_t n : {1, 7, 16, 33, 100}) {
        const auto count = static_cast<std::size_t>(n);
        std::vector<float> x(count, 10.f), slot(count, 1.f), new_x(count), new_slot(count);
        const std::vector<float> g(count, 2.f), old_x = x, old_slot = slot;
        const std::array<const float*, 2> was{x.data(), slot.data()};
        const std::array<const float*, 1> in{g.data()};
        const update_constants<float, 1> rate{&test_update::half_rate};
        update_arrays<test_update::step>(n, was, std::array{new_x.data(), new_slot.data()}, in, rate);
        CHECK(x == old_x);
        CHECK(slot == old_slot);
        CHECK(new_x == std::vector<float>(count, 8.5f));
        CHECK(new_slot == std::vector<float>(count, 3.f));
        update_arrays<test_update::step>(n, was, std::array{x.data(), slot.data()}, in, rate);
        CHECK(x == new_x);
        CHECK(slot == new_slot);
    }
}

TEST_CASE("update: with help, the same") {
    const index_t n = 200'003;
    std::vector<float> g(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(i % 97) * 0.37f;
    const auto run = [&](thread_pool* pool) {
        std::vector<float> x(g.size(), 10.f), slot(g.size(), 1.f);
        update_arrays<test_update::step>(n, std::array<const float*, 2>{x.data(), slot.data()},
                                         std::array{x.data(), slot.data()}, std::array<const float*, 1>{g.data()},
                                         update_constants<float, 1>{&test_update::half_rate}, pool);
        return x;
    };
    thread_pool two(1), four(3);
    const auto alone = run(nullptr);
    CHECK(run(&two) == alone);
    CHECK(run(&four) == alone);
}

TEST_CASE("update: by rows, one after the other, or what belongs to one row added first") {
    for (const index_t inner : {1, 5, 33}) {
        const std::vector<std::int32_t> ids{2, 0, 2, 3, 2};
        const auto count = static_cast<index_t>(ids.size());
        std::vector<double> g(static_cast<std::size_t>(count * inner));
        for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<double>(i % 13) - 4;
        std::vector<std::byte> room(update_rows_scratch_bytes<double>(count, inner, 1));
        const double rate = 0.5;
        const auto updated = [&](bool added) {
            std::vector<double> x(static_cast<std::size_t>(4 * inner), 10.), slot(x.size(), 1.);
            update_array_rows<test_update::step>(ids.data(), count, inner, std::array{x.data(), slot.data()},
                                                 std::array<const double*, 1>{g.data()},
                                                 update_constants<double, 1>{&rate}, added ? room.data() : nullptr);
            return std::pair(x, slot);
        };
        std::vector<double> x(static_cast<std::size_t>(4 * inner), 10.), slot(x.size(), 1.), added = x,
                                                                                             added_slot = slot;
        const auto step = [&](auto& value, auto& velocity, index_t row, index_t i, double by) {
            const auto at = static_cast<std::size_t>(row * inner + i);
            velocity[at] += by;
            value[at] -= 0.5 * velocity[at];
        };
        for (index_t i = 0; i < inner; ++i) {
            std::vector<double> sums(4, 0.);
            for (index_t k = 0; k < count; ++k) {
                const auto row = ids[static_cast<std::size_t>(k)];
                const double by = g[static_cast<std::size_t>(k * inner + i)];
                step(x, slot, row, i, by);
                sums[static_cast<std::size_t>(row)] += by;
            }
            for (const index_t row : {0, 2, 3}) step(added, added_slot, row, i, sums[static_cast<std::size_t>(row)]);
        }
        CHECK(updated(false) == std::pair(x, slot));
        CHECK(updated(true) == std::pair(added, added_slot));
    }
}
