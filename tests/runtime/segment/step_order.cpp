// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/step_order.hpp>

#include <algorithm>

#include "catch.hpp"

using namespace rill;

namespace test_step_order {

/// Steps by the slots that they read and write, without kernels.
struct fixture : detail::bound_graph {
    explicit fixture(int slots_used) { slots.resize(static_cast<std::size_t>(slots_used)); }

    /// An item that is a step: its number among the items.
    int step(const std::vector<int>& reads, const std::vector<int>& writes, const std::vector<int>& after = {}) {
        const int number = item(after);
        detail::bound_graph::step made;
        made.item = number;
        made.inputs = static_cast<std::int32_t>(indices.size());
        indices.insert(indices.end(), reads.begin(), reads.end());
        made.outputs = static_cast<std::int32_t>(indices.size());
        indices.insert(indices.end(), writes.begin(), writes.end());
        made.end = static_cast<std::int32_t>(indices.size());
        steps.push_back(std::move(made));
        return number;
    }
    /// One that is none: an alias, a group.
    int item(const std::vector<int>& after = {}) {
        subgraph::item made;
        for (const int a : after) made.after.push_back(a);
        graph.items.push_back(std::move(made));
        group_of.push_back(-1);
        return static_cast<int>(graph.items.size()) - 1;
    }
    std::vector<int> after(std::size_t k) const { return detail::order_of_steps(*this)[k].after; }
};

} // namespace test_step_order

using test_step_order_fixture = test_step_order::fixture;

TEST_CASE("step_order: a value is read after it is written, and its place written again after its readers") {
    test_step_order_fixture b(3);
    b.step({}, {0});     // 0
    b.step({0}, {1});    // 1 reads it
    b.step({0}, {2});    // 2 too: beside 1
    b.step({1, 2}, {0}); // 3 writes the first one's place
    b.step({0}, {0});    // 4 in place
    CHECK(b.after(0).empty());
    CHECK(b.after(1) == std::vector<int>{0});
    CHECK(b.after(2) == std::vector<int>{0});
    CHECK(b.after(3) == std::vector<int>{0, 1, 2});
    CHECK(b.after(4) == std::vector<int>{3});
}

TEST_CASE("step_order: control dependencies lead through what is no step") {
    test_step_order_fixture b(4);
    const int first = b.step({}, {0}), second = b.step({}, {1});
    const int group = b.item({first, second}), another = b.item({group});
    b.step({}, {2}, {another});
    b.step({}, {3});
    CHECK(b.after(2) == std::vector<int>{0, 1});
    CHECK(b.after(3).empty());
}

TEST_CASE("step_order: after very many it is after all before them") {
    test_step_order_fixture b(41);
    std::vector<int> all;
    for (int k = 0; k < 40; ++k) all.push_back(b.step({}, {k}));
    const int group = b.item(all);
    b.step({}, {40}, {group});
    const auto last = detail::order_of_steps(b)[40];
    CHECK(last.after.size() <= 16);
    for (int k = 0; k < 40; ++k) CHECK((k <= last.fence || std::ranges::count(last.after, k) == 1));
}
