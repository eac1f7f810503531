// SPDX-License-Identifier: BSD-3-Clause
// Random graphs on the far device: the bits that the CPU computes, on any number of threads.
#include "../../random_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <rill/passes/insert_copies.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/place.hpp>
#include <rill/passes/prune.hpp>

#include "../../catch.hpp"
#include "../../random_parts.hpp"
#include "by_default.hpp"
#include "same.hpp"

using namespace rill;

namespace test_far_random_graphs {

/// Returns true if two values are the same: bit for bit, or, where one rounds differently, nearly. Rounding may then decide between a NaN and
/// an infinite number: a tiny number or 0 times an infinite one.
bool same_values(const any_array& a, const any_array& b, bool rounds_apart) {
    if (!rounds_apart && test_far::tolerance<float> == 0) return random_parts::same_bits(a, b);
    auto x = op_test::reals(a), y = op_test::reals(b);
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
        if (!std::isfinite(x[i]) && !std::isfinite(y[i])) x[i] = y[i] = 0;
    return a.type() == b.type() && op_test::far_apart(x, y, 1e-9).empty();
}

/// Every node on the CPU or one of two far devices, by chance.
auto scattered(random_graph::random& chance) {
    return [&chance](const node_info&) -> std::string {
        static constexpr std::array devices{"/cpu:0", "/far:0", "/far:1"};
        return devices[chance() % devices.size()];
    };
}
session_options on_threads(int threads, bool cut = false) {
    return {.inter_op_threads = threads,
            .intra_op_threads = threads,
            .device_count = {{"far", 2}},
            .partition_devices = cut};
}

/// How many values of random graphs differ from the CPU's: all nodes on the far device, or each on one of three by chance, in one piece or
/// cut between them. Extents of one block (scale 1) are summed up the same way in either.
int compare(unsigned seed, int rounds, index_t scale, bool mixed, bool cut = false) {
    // sums go by blocks, and their size by what is fused together, which a change of devices ends: the same but for rounding
    const auto same = [rounds_apart = mixed && scale > 1](const any_array& a, const any_array& b) {
        return same_values(a, b, rounds_apart);
    };
    random_graph::random r(seed), chance(seed + 1);
    test_far::all_copies().draw_from(seed);
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto run = [&](bool far, random_graph::random draw, int threads, bool few) {
            const test_far::by_default there(far ? "far" : "cpu");
            const graph g;
            const graph_scope here(g);
            const auto m = [&] {
                std::optional<device_scope> where;
                if (far && mixed) where.emplace(scattered(chance));
                return random_graph::build(draw, scale);
            }();
            std::vector<feed_value> feeds;
            for (std::size_t i = 0; i < m.feeds.size(); ++i) feeds.push_back(feed(m.values[i], m.feeds[i]));
            const std::vector<any_tensor> last(m.values.end() - 5, m.values.end());
            return session(g, on_threads(threads, far && cut)).run(few ? last : m.values, feeds);
        };
        r.discard(1000);
        for (const bool few : {false, true}) {
            const auto wanted = run(false, r, 1, few);
            for (const int threads : {1, 3}) {
                const auto got = run(true, r, threads, few);
                for (std::size_t i = 0; i < got.size(); ++i) {
                    if (same(got[i], wanted[i])) continue;
                    ++wrong;
                    WARN("graph " << round << ", " << threads << " threads, value " << i << ": "
                                  << op_test::far_apart(op_test::reals(got[i]), op_test::reals(wanted[i]),
                                                        test_far::tolerance<double>));
                }
            }
        }
    }
    return wrong;
}

/// Random reads and writes of variables, in the order that control dependencies ask for.
struct scribble {
    std::vector<tensor<double, 3>> values; // the first are variables
    std::vector<operation> writes;
    placeholder<double, 3> x{"x"};

    explicit scribble(random_graph::random& r) {
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random_graph::below(r, n)); };
        std::vector<variable<double, 3>> variables;
        for (const char* name : {"a", "b", "c"}) {
            variables.emplace_back(name, std::array{0.5, 1. + static_cast<double>(below(9)), -1.});
            values.push_back(variables.back());
        }
        values.push_back(x);
        for (int i = 0; i < 14; ++i) {
            const auto a = values[below(values.size())], b = values[below(values.size())];
            const auto& v = variables[below(3)];
            std::optional<control_dependencies> after;
            if (below(3) == 0) after.emplace(values[below(values.size())], values[below(values.size())]);
            const auto made = [&]() -> tensor<double, 3> {
                switch (below(8)) {
                case 0: return v.assign(a);
                case 1: return v.assign(a * 0.5 - b * 0.25);
                case 2: return v.assign_add(a * 0.25);
                case 3: return v.assign_sub(a);
                case 4: return identity(a);
                case 5: return reshape<3>(expand_dims<0>(a));
                case 6: return a * 0.5 + reduce_mean(b);
                default: return tanh(a - b);
                }
            }();
            values.push_back(made);
        }
    }
};

int compare_writes(unsigned seed, int rounds, bool cut = false) {
    random_graph::random r(seed), chance(seed + 1);
    test_far::all_copies().draw_from(seed);
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto run = [&](bool mixed, random_graph::random draw, int threads) {
            const test_far::by_default there(mixed ? "far" : "cpu");
            const graph g;
            const graph_scope here(g);
            const auto made = [&] {
                std::optional<device_scope> where;
                if (mixed) where.emplace(scattered(chance));
                return scribble(draw);
            }();
            const session s(on_threads(threads, mixed && cut));
            s.run(global_variables_initializer());
            std::vector<any_array> got;
            for (int step = 0; step < 4; ++step) {
                std::vector<any_tensor> fetched;
                for (int k = 0; k < 4; ++k)
                    fetched.push_back(random_graph::pick(draw, {made.values.begin(), made.values.end()}));
                for (auto& value : s.run(fetched, feed(made.x, {0.25, -1., 0.5 * step})))
                    got.push_back(std::move(value));
                for (std::size_t v = 0; v < 3; ++v) got.push_back(s.run(any_tensor(made.values[v])));
            }
            return got;
        };
        r.discard(1000);
        const auto wanted = run(false, r, 1);
        for (const int threads : {1, 3}) {
            const auto got = run(true, r, threads);
            for (std::size_t i = 0; i < got.size(); ++i) wrong += !same_values(got[i], wanted[i], false);
        }
    }
    return wrong;
}

TEST_CASE("far: random graphs") {
    CHECK(compare(20261122, 400, 1, false) == 0);
    CHECK(compare(12, 15, 100, false) == 0);
}

TEST_CASE("far: random graphs whose nodes are on three devices") {
    CHECK(compare(20261123, 400, 1, true) == 0);
    CHECK(compare(13, 15, 100, true) == 0);
}

TEST_CASE("far: random writes of variables on three devices") { CHECK(compare_writes(20261124, 600) == 0); }

/// While it lives, steps on a far device are estimated to take long: copies from one device to another go before all that they do not need.
class slow_steps {
public:
    slow_steps() : type_(const_cast<device_type&>(test_far::device())), before_(type_.start_microseconds) {
        type_.start_microseconds = 1e3;
    }
    ~slow_steps() { type_.start_microseconds = before_; }
    slow_steps(const slow_steps&) = delete;

private:
    device_type& type_; // the object itself is not const
    const double before_;
};

/// Returns the number of items that another item takes the place of where copies go first.
int count_moved(unsigned seed, int rounds) {
    random_graph::random r(seed), chance(seed + 1);
    int moved = 0;
    for (int round = 0; round < rounds; ++round) {
        const graph g;
        const graph_scope here(g);
        const auto m = [&] {
            const device_scope where(scattered(chance));
            return random_graph::build(r, 1);
        }();
        std::vector<endpoint> fetches, feeds;
        for (const auto& v : m.values) fetches.push_back(v.end());
        for (std::size_t i = 0; i < m.feeds.size(); ++i) feeds.push_back(m.values[i].end());
        placement where({{"far", 2}}, cpu_device(), false);
        const auto before =
            insert_copies(sort_items(order_variable_accesses(place(sort_items(prune(fetches, {}, feeds)), where))));
        const auto after = hoist_copies(before, cost_model(),
                                        [](const memory_space*) { return std::numeric_limits<double>::infinity(); });
        check(after, true);
        for (std::size_t i = 0; i < after.items.size(); ++i) moved += before.items[i].origin != after.items[i].origin;
    }
    return moved;
}

TEST_CASE("far: random graphs and writes on three devices whose copies go before what they do not need") {
    const slow_steps slow;
    CHECK(count_moved(20261127, 20) > 100);
    CHECK(compare(20261128, 150, 1, true) == 0);
    CHECK(compare_writes(20261129, 300) == 0);
}

TEST_CASE("far: random graphs that are cut between three devices") {
    CHECK(compare(20261125, 60, 1, true, true) == 0);
    CHECK(compare(14, 5, 100, true, true) == 0);
}

TEST_CASE("far: random writes of variables that are cut between three devices") {
    CHECK(compare_writes(20261126, 80, true) == 0);
}

} // namespace test_far_random_graphs
