// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/update.hpp>

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
} // namespace test_update

TEST_CASE("update: several arrays in place in one pass, tails included") {
    for (const index_t n : {1, 7, 16, 33, 100}) {
        const auto count = static_cast<std::size_t>(n);
        std::vector<float> x(count, 10.f), slot(count, 1.f), g(count, 2.f);
        update_arrays<test_update::step>(n, std::array{x.data(), slot.data()}, std::array<const float*, 1>{g.data()},
                                         std::array{0.5f});
        CHECK(x == std::vector<float>(count, 8.5f));
        CHECK(slot == std::vector<float>(count, 3.f));
    }
}

TEST_CASE("update: with help, the same") {
    const index_t n = 200'003;
    std::vector<float> g(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(i % 97) * 0.37f;
    const auto run = [&](thread_pool* pool) {
        std::vector<float> x(g.size(), 10.f), slot(g.size(), 1.f);
        update_arrays<test_update::step>(n, std::array{x.data(), slot.data()}, std::array<const float*, 1>{g.data()},
                                         std::array{0.5f}, pool);
        return x;
    };
    thread_pool two(1), four(3);
    const auto alone = run(nullptr);
    CHECK(run(&two) == alone);
    CHECK(run(&four) == alone);
}
