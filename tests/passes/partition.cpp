// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/partition.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/place.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_partition {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float, 3> x{"x"};
    placement where{{{"cpu", 3}}, cpu_device(), false};

    fixture() { detail::register_exchange_ops(); }

    template <class F> static auto on(int cpu, const F& make) {
        const device_scope there("/cpu:" + std::to_string(cpu));
        return make();
    }
    placed_parts cut(
        const std::vector<endpoint>& fetches, const std::vector<const node*>& targets = {},
        const part_function& part_of = [](const device& d) -> const device& { return d; }) {
        const std::vector<endpoint> feeds{x};
        exchange_inserter inserter(part_of, where.devices());
        auto items = inserter.run(place(prune(fetches, targets, feeds), where));
        check(items, true);
        return inserter.take_apart(sort_items(order_variable_accesses(std::move(items))));
    }
    /// Returns the names of a part's items, in order.
    static std::vector<std::string> names(const placed_part& p) {
        std::vector<std::string> all;
        for (int i = 0; i < static_cast<int>(p.steps.items.size()); ++i) {
            const auto& it = p.steps.items[i];
            all.push_back(it.origin || !it.op ? p.steps.name_of(i) : it.op->label());
        }
        return all;
    }
};

} // namespace test_partition

using test_partition_fixture = test_partition::fixture;

TEST_CASE_METHOD(test_partition_fixture,
                 "partition: one pair for each value and part, a Send right behind its producer") {
    const auto a = on(0, [&] { return tensor(x * 2.f, "a"); });
    const auto b = on(0, [&] { return tensor(a + 1.f, "b"); });
    const auto c = on(1, [&] { return tensor(a + x, "c"); });
    const auto d = on(1, [&] { return tensor(a * c, "d"); });
    const auto e = on(2, [&] { return tensor(a * d, "e"); });
    const auto made = cut({b, e});
    REQUIRE(made.parts.size() == 3);
    REQUIRE(made.edges.size() == 3);
    const auto first = names(made.parts[0]);
    const auto at = std::find(first.begin(), first.end(), "a");
    CHECK(*(at + 1) == "send");
    CHECK(*(at + 2) == "send");
    CHECK(made.parts[1].feeds == std::vector{0}); // a feed does not cross
    CHECK(made.parts[2].feeds.empty());
    CHECK(made.parts[2].fetches == std::vector{1});
    for (const auto& edge : made.edges) {
        CHECK(edge.type == tensor_type{dtype::float32, dims{3}});
        CHECK(!edge.is_control);
    }
    const auto whole = cut({b, e}, {}, [&](const device&) -> const device& { return where.devices().cpu(); });
    CHECK(whole.parts.size() == 1);
    CHECK(whole.edges.empty());
}

TEST_CASE_METHOD(test_partition_fixture,
                 "partition: what writes a variable is in its part, and its Send reads it before") {
    const auto v = on(1, [] { return variable<float, 3>("v", {1.f, 2.f, 3.f}); });
    const auto read = on(0, [&] { return tensor(v * 2.f, "read"); });
    const auto written = on(2, [&] { return tensor(v.assign_add(x)); });
    const auto made = cut({read, written});
    REQUIRE(made.parts.size() == 2); // the write asks for /cpu:2 in vain
    const auto& of_v =
        *std::find_if(made.parts.begin(), made.parts.end(), [](const placed_part& p) { return p.where->index == 1; });
    const auto steps = names(of_v);
    const auto place = [&](const std::string& name) {
        return std::find(steps.begin(), steps.end(), name) - steps.begin();
    };
    CHECK(place("send") < place(written.node()->name));
    CHECK(of_v.steps.targets.size() == 1);
}

TEST_CASE_METHOD(test_partition_fixture, "partition: a control edge carries an empty array") {
    const auto a = on(0, [&] { return tensor(x * 2.f, "a"); });
    const auto b = on(1, [&] {
        const control_dependencies after(a);
        return tensor(x + 1.f, "b");
    });
    const auto made = cut({b});
    REQUIRE(made.edges.size() == 1);
    CHECK(made.edges[0].is_control);
    CHECK(made.edges[0].type.bytes() == 0);
}
