// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/parallel_regions.hpp>

#include <numeric>
#include <random>
#include <set>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/ops/state/assign_add.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>
#include <rill/runtime/segment/binding.hpp>
#include <rill/session/session.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_runtime_parallel_regions {

using needs = std::vector<std::vector<int>>;

std::vector<detail::step_order> order(const needs& n) {
    std::vector<detail::step_order> all;
    for (const auto& after : n) all.push_back({after, -1});
    return all;
}

std::vector<detail::step_cost> costs(const std::vector<double>& microseconds) {
    std::vector<detail::step_cost> all;
    for (const double m : microseconds) all.push_back({m, false});
    return all;
}

/// Towers of products beside one another, then their sum.
struct towers {
    graph g;
    any_tensor x, sum;

    towers() {
        const graph_scope here(g);
        x = placeholder<float, dyn, 48>("x");
        for (int t = 0; t < 4; ++t) {
            any_tensor h = x;
            const variable<float, 48, 48> w("w", glorot_uniform(static_cast<std::uint64_t>(t + 1)));
            for (int i = 0; i < 5; ++i) h = tanh(matmul(h, any_tensor(w)));
            sum = sum ? sum + h : h;
        }
    }
    static xt::xtensor<float, 2> data() { return xt::xtensor<float, 2>(std::array<std::size_t, 2>{64, 48}, 0.25f); }
};

} // namespace test_runtime_parallel_regions

using namespace test_runtime_parallel_regions;

TEST_CASE("parallel_regions: a fork and its join, light steps along, serial steps before and behind") {
    //   0 - 1 - 2 - 4 - 6 - 7
    //        \ 3 - 5 /
    const needs n{{}, {0}, {1}, {1}, {2}, {3}, {4, 5}, {6}};
    const auto found = detail::find_parallel_regions(order(n), costs({30, 30, 40, 20, 1, 25, 5, 50}), 2);
    REQUIRE(found.size() == 1);
    CHECK(found[0].first == 2);
    CHECK(found[0].last == 6);
    CHECK(found[0].lanes == std::vector<std::vector<int>>{{3, 5}, {2, 4}});
}

TEST_CASE("parallel_regions: none where there is one thread, one path, or too little to do") {
    const needs fork{{}, {0}, {0}, {1, 2}}, path{{}, {0}, {1}, {2}};
    CHECK(detail::find_parallel_regions(order(fork), costs({1, 100, 100, 1}), 1).empty());
    CHECK(detail::find_parallel_regions(order(path), costs({1, 100, 100, 1}), 4).empty());
    CHECK(detail::find_parallel_regions(order(fork), costs({1, 9, 9, 1}), 2).empty());
    CHECK(detail::find_parallel_regions(order(fork), costs({1, 100, 3, 1}), 2).empty()); // one long, one short
    CHECK(detail::find_parallel_regions({}, {}, 2).empty());
    CHECK_FALSE(detail::worth_branching({}, 2));
    CHECK_FALSE(detail::worth_branching(costs({1, 9, 9, 1}), 2));
    CHECK_FALSE(detail::worth_branching(costs({1, 100, 100, 1}), 1));
    CHECK(detail::worth_branching(costs({1, 100, 100, 1}), 2));
    CHECK_FALSE(detail::worth_branching(costs(std::vector<double>(10000, 0.1)), 2)); // much, but little at a time
    std::vector<double> late(200, 0.1);
    late.back() = 50;
    CHECK(detail::worth_branching(costs(late), 2));
    const auto two = detail::find_parallel_regions(order(fork), costs({1, 100, 100, 1}), 2);
    REQUIRE(two.size() == 1);
    CHECK(two[0].lanes.size() == 2);
    // what its own threads share gains nothing from a lane
    const std::vector<detail::step_cost> shared{{1, false}, {100, true}, {8, false}, {1, false}};
    CHECK(detail::find_parallel_regions(order(fork), shared, 2).empty());
}

TEST_CASE("parallel_regions: no window holds both a fence and what it waits for") {
    auto four = order({{}, {}, {}, {}});
    const auto whole = detail::find_parallel_regions(four, costs({50, 50, 50, 50}), 2);
    REQUIRE(whole.size() == 1);
    CHECK((whole[0].first == 0 && whole[0].last == 4));
    four[2].fence = four[3].fence = 1;
    const auto halves = detail::find_parallel_regions(four, costs({50, 50, 50, 50}), 2);
    REQUIRE(halves.size() == 2);
    CHECK((halves[0].first == 0 && halves[0].last == 2 && halves[1].first == 2 && halves[1].last == 4));
}

TEST_CASE("parallel_regions: many steps behind many others are planned in time that grows with their number") {
    // a list of each step's predecessors would have 10^8 entries
    const graph g;
    const graph_scope here(g);
    placeholder<float, 64, 64> x("x");
    std::vector<operation> first;
    std::vector<any_tensor> last;
    for (int i = 0; i < 10000; ++i) first.emplace_back(tensor(x + static_cast<float>(i)).node());
    const control_dependencies after(group(first));
    for (int i = 0; i < 10000; ++i) last.push_back(tensor(x * static_cast<float>(i)));
    const session s(g, {.inter_op_threads = 2, .intra_op_threads = 1});
    const auto all = s.run(last, feed(x, xt::xtensor<float, 2>(std::array<std::size_t, 2>{64, 64}, 1.f)));
    CHECK(all[777].elements<float>()[5] == 777.f);
}

TEST_CASE("parallel_regions: any graph: every step once, in an order that its needs allow") {
    std::mt19937 random(3);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    int lanes = 0;
    for (int round = 0; round < 300; ++round) {
        const int n = 1 + below(150), threads = 2 + below(3);
        needs all(static_cast<std::size_t>(n));
        std::vector<double> time;
        for (int k = 0; k < n; ++k) {
            for (int i = below(3); k > 0 && i > 0; --i)
                all[static_cast<std::size_t>(k)].push_back(k - 1 - below(std::min(k, 8)));
            time.push_back(below(30));
        }
        int at = 0;
        for (const auto& b : detail::find_parallel_regions(order(all), costs(time), threads)) {
            REQUIRE(b.first >= at);
            REQUIRE(b.last > b.first);
            at = b.last;
            REQUIRE(static_cast<int>(b.lanes.size()) <= threads);
            std::set<int> seen;
            for (const auto& lane : b.lanes) {
                ++lanes;
                std::set<int> before;
                for (const int k : lane) {
                    for (const int d : all[static_cast<std::size_t>(k)]) REQUIRE((d < b.first || before.contains(d)));
                    before.insert(k);
                    REQUIRE(seen.insert(k).second);
                }
            }
            REQUIRE(static_cast<int>(seen.size()) == b.last - b.first);
            REQUIRE((*seen.begin() == b.first && *seen.rbegin() == b.last - 1));
        }
        REQUIRE(at <= n);
    }
    CHECK(lanes > 100);
}

TEST_CASE("parallel_regions: towers run at once, with the results of one thread and memory within bounds") {
    const towers t;
    const graph_scope here(t.g);
    const auto loss = reduce_sum(t.sum * t.sum);
    const auto slopes = gradients(std::vector<any_tensor>{loss}, std::vector<any_tensor>{t.x});
    const auto run = [&](int lanes, int threads) {
        const session s(t.g, {.inter_op_threads = lanes, .intra_op_threads = threads});
        s.run(global_variables_initializer());
        std::vector<std::pair<any_array, any_array>> all;
        for (int i = 0; i < 20; ++i) {
            const auto [l, d] = s.run(std::tuple(loss, slopes[0]), feed(t.x, towers::data()));
            all.emplace_back(l, d);
        }
        return all;
    };
    const auto alone = run(1, 1);
    for (const auto& [lanes, threads] : {std::pair(2, 1), {3, 1}, {2, 2}, {4, 3}}) {
        const auto beside = run(lanes, threads);
        for (std::size_t i = 0; i < alone.size(); ++i) {
            REQUIRE(beside[i].first.value<float>() == alone[i].first.value<float>());
            REQUIRE(std::ranges::equal(beside[i].second.elements<float>(), alone[i].second.elements<float>()));
        }
    }
    const auto bind = [&](int lanes) {
        detail::resource_store resources(default_allocator(), {std::make_shared<thread_pool>(lanes - 1), false, lanes});
        const std::vector<tensor_type> types{{dtype::float32, dims{64, 48}}};
        return *detail::binder::bind(
            sort_items(order_variable_accesses(prune(std::vector<endpoint>{loss}, {}, std::vector<endpoint>{t.x}))),
            types, resources);
    };
    const auto one = bind(1), two = bind(2);
    CHECK(one.parallel.empty());
    REQUIRE(two.parallel.size() > 0);
    for (const auto& window : two.parallel) CHECK(window.lanes.size() == 2);
    CHECK(two.arena_bytes <= one.arena_bytes + (1 << 19));
    CHECK(two.lower_bound >= one.lower_bound);
    CHECK(two.lower_bound <= two.arena_bytes);
}

TEST_CASE("parallel_regions: writes of variables keep their order with reads in other lanes") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 64, 64> x("x");
    const variable<float, 64, 64> w("w", zeros());
    any_tensor a = x, b = x;
    for (int i = 0; i < 6; ++i) a = tanh(matmul(a, any_tensor(w) + any_tensor(x))), b = tanh(matmul(b, any_tensor(x)));
    const auto more = w.assign_add(tensor<float, 64, 64>(b));
    const auto read = [&] {
        const control_dependencies after(more);
        return any_tensor(tensor(w * 1.f));
    }();
    const session s(g, {.inter_op_threads = 3, .intra_op_threads = 1});
    const session plain(g, {.inter_op_threads = 0, .intra_op_threads = 0});
    s.run(global_variables_initializer());
    plain.run(global_variables_initializer());
    const xt::xtensor<float, 2> xv(std::array<std::size_t, 2>{64, 64}, 0.01f);
    for (int i = 0; i < 30; ++i) {
        const auto p = s.run(std::tuple(a, read), feed(x, xv)), q = plain.run(std::tuple(a, read), feed(x, xv));
        REQUIRE(std::ranges::equal(std::get<0>(p).elements<float>(), std::get<0>(q).elements<float>()));
        REQUIRE(std::ranges::equal(std::get<1>(p).elements<float>(), std::get<1>(q).elements<float>()));
    }
}

TEST_CASE("parallel_regions: lanes that would cost much memory are left") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 600, 600> x("x");
    std::vector<endpoint> sums;
    for (int i = 0; i < 4; ++i) { // one after the other they need room for one product of 1.4 MB
        const tensor p = matmul(x, x * static_cast<float>(i + 1));
        sums.push_back(reduce_sum(matmul(p, p)));
    }
    const std::vector<tensor_type> types{{dtype::float32, dims{600, 600}}};
    detail::resource_store resources(default_allocator(), {std::make_shared<thread_pool>(1), false, 2});
    const auto b = *detail::binder::bind(sort_items(prune(sums, {}, std::vector<endpoint>{x})), types, resources);
    CHECK(b.parallel.empty());
    CHECK(b.arena_bytes <= b.lower_bound / 10 * 11);
}

TEST_CASE("parallel_regions: an error in a lane names its node, and the session goes on") {
    const towers t;
    const graph_scope here(t.g);
    placeholder<int, dyn> n("n");
    const tensor quotient(n / (n + 0), "quotient");
    const session s(t.g, {.inter_op_threads = 2, .intra_op_threads = 1});
    s.run(global_variables_initializer());
    const std::vector<int> fine(20000, 3), zero(20000);
    const auto run = [&](const std::vector<int>& v) {
        return std::get<1>(s.run(std::tuple(t.sum, quotient), feed(t.x, towers::data()), feed(n, v)))(9);
    };
    CHECK(run(fine) == 1);
    CHECK_THROWS_WITH(run(zero), contains("integer division by zero") && contains("'quotient'") &&
                                     contains("parallel_regions.cpp:"));
    CHECK(run(fine) == 1);
}
