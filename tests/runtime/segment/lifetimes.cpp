// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/lifetimes.hpp>

#include <algorithm>
#include <random>

#include "catch.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_lifetimes {

/// Steps of one output each, which read earlier ones; some values are fetched, some steps work in place where they may.
struct random_steps {
    detail::bound_graph b;
    std::vector<std::vector<int>> needs;
    std::vector<detail::shared_place> may_share;

    random_steps(std::mt19937& random, int n, int threads) {
        const auto below = [&](int m) { return static_cast<int>(random() % static_cast<unsigned>(m)); };
        std::vector<detail::step_cost> costs;
        b.graph.items.resize(static_cast<std::size_t>(n));
        for (int k = 0; k < n; ++k) {
            auto& need = needs.emplace_back();
            for (int i = below(3); k > 0 && i > 0; --i) need.push_back(std::max(0, k - 1 - below(6)));
            std::sort(need.begin(), need.end());
            need.erase(std::unique(need.begin(), need.end()), need.end());
            const index_t size = 16 * (1 + below(4));
            b.types.push_back({{dtype::float32, dims{size}}});
            b.value_slot.push_back({k});
            detail::bound_graph::slot_value s;
            s.type = b.types.back()[0];
            s.bytes = static_cast<std::size_t>(size) * 4;
            b.slots.push_back(s);
            detail::bound_graph::step step;
            step.item = k;
            step.inputs = static_cast<std::int32_t>(b.indices.size());
            for (const int d : need) b.indices.push_back(d);
            step.outputs = static_cast<std::int32_t>(b.indices.size());
            b.indices.push_back(k);
            step.end = static_cast<std::int32_t>(b.indices.size());
            b.steps.push_back(std::move(step));
            for (const int d : need) may_share.push_back({static_cast<std::size_t>(k), {d, 0}, {k, 0}});
            costs.push_back({static_cast<double>(1 + below(40)), false});
            if (below(8) == 0) b.graph.fetches.push_back({k, 0});
        }
        std::vector<detail::step_order> order;
        for (const auto& after : needs) order.push_back({after, -1});
        b.parallel = detail::find_parallel_regions(order, costs, threads);
        detail::plan_memory(b, may_share);
    }

    /// Step p is over before step q begins, whatever the threads do.
    bool before(int p, int q) const {
        if (p == q) return false;
        for (const auto& s : b.parallel)
            if (p >= s.first && p < s.last && q >= s.first && q < s.last) {
                for (const auto& lane : s.lanes) {
                    const auto at = std::find(lane.begin(), lane.end(), p), to = std::find(lane.begin(), lane.end(), q);
                    if (at != lane.end() && to != lane.end()) return at < to;
                }
                return false;
            }
        return p < q;
    }
    /// The steps that use a value, its maker first; a fetch is one more, after all.
    std::vector<int> uses(int value) const {
        std::vector<int> all{value};
        for (int k = value + 1; k < static_cast<int>(needs.size()); ++k)
            if (std::ranges::count(needs[static_cast<std::size_t>(k)], value)) all.push_back(k);
        for (const auto& f : b.graph.fetches)
            if (f.item == value) all.push_back(static_cast<int>(needs.size()));
        return all;
    }
    bool overlap(int x, int y) const {
        const auto &p = b.slots[static_cast<std::size_t>(x)], &q = b.slots[static_cast<std::size_t>(y)];
        const auto at = b.offsets[static_cast<std::size_t>(x)], to = b.offsets[static_cast<std::size_t>(y)];
        return at < to + q.bytes && to < at + p.bytes;
    }
};

} // namespace test_lifetimes

using test_lifetimes::random_steps;

TEST_CASE("lifetimes: no value is written over while something may still read it, on one thread or in lanes",
          "[random]") {
    int in_place = 0, windows = 0, shared = 0;
    seeds::each(300, [&](std::uint64_t seed) {
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        const int n = 2 + static_cast<int>(random() % 60);
        const random_steps s(random, n, 1 + static_cast<int>(seed % 4));
        windows += static_cast<int>(s.b.parallel.size());
        for (int y = 0; y < n; ++y) {
            in_place += s.b.slots[static_cast<std::size_t>(y)].in_place_of >= 0;
            REQUIRE(s.b.offsets[static_cast<std::size_t>(y)] + s.b.slots[static_cast<std::size_t>(y)].bytes <=
                    s.b.arena_bytes);
            for (int x = 0; x < n; ++x) {
                if (x == y || !s.overlap(x, y)) continue;
                ++shared;
                // one of them is over when the other is made; in place, the last reader is the maker
                const auto over = [&](int first, int then) {
                    return std::ranges::all_of(s.uses(first),
                                               [&](int u) { return s.before(u, then) || (u == then && u != first); });
                };
                REQUIRE((over(x, y) || over(y, x)));
            }
        }
        REQUIRE(s.b.arena_bytes >= s.b.lower_bound);
    });
    if (!seeds::all()) return;
    CHECK(in_place > 100);
    CHECK(windows > 100);
    CHECK(shared > 1000);
}
