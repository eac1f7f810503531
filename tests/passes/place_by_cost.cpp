// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/place_by_cost.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/prune.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_place_by_cost {

using matrix = tensor<float, 300, 300>;

/// Two chains of products that meet.
struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float, 300, 300> x{"x"};
    matrix a = chain(3, 2.f), b = chain(3, 3.f);
    matrix meet{matmul(a, b)};

    matrix chain(int n, float by) const {
        matrix m(x * by);
        for (int i = 0; i < n; ++i) m = matmul(m, x);
        return m;
    }
    subgraph placed(placers placer, const endpoint& fetch, std::vector<std::string>* names = nullptr) const {
        const std::vector<endpoint> fetches{fetch}, feeds{x};
        where = std::make_unique<placement>(device_counts{{"cpu", 2}}, cpu_device(), false, nullptr, placer);
        auto made = place(prune(fetches, {}, feeds), *where);
        if (names)
            for (const auto& it : made.items)
                if (it.origin) names->push_back(it.origin->name + " " + to_string(it.device->full));
        return made;
    }
    mutable std::unique_ptr<placement> where;
};

} // namespace test_place_by_cost

using test_place_by_cost_fixture = test_place_by_cost::fixture;
using test_place_by_cost::matrix;

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: a node beside another one goes where that goes") {
    const matrix after = [&] {
        const colocate_with beside(b);
        return matrix(b * 2.f);
    }();
    placement chosen({{"cpu", 2}}, cpu_device(), false, nullptr, placers::by_cost);
    CHECK(chosen.is_free(*b.node()));
    CHECK(!chosen.is_free(*after.node()));
    const auto& second = *chosen.devices().all()[1];
    chosen.choose(*b.node(), second);
    CHECK(!chosen.is_free(*b.node()));
    CHECK(&chosen.device_of(*after.node()) == &second);
    CHECK(&chosen.device_of(*b.node()) == &second);
}

TEST_CASE_METHOD(test_place_by_cost_fixture,
                 "place by cost: chains that meet run beside each other, the same way each time") {
    const double one = simulated_microseconds(placed(placers::simple, meet));
    std::vector<std::string> first, second;
    const double two = simulated_microseconds(placed(placers::by_cost, meet, &first));
    placed(placers::by_cost, meet, &second);
    CHECK(first == second);
    CHECK(two < 0.7 * one); // of seven products in line, four
    CHECK(where->device_of(*a.node()).index != where->device_of(*b.node()).index);
}

TEST_CASE_METHOD(test_place_by_cost_fixture,
                 "place by cost: requests and nodes that are placed stay, state goes together") {
    const auto pinned = [&] {
        const device_scope there("/cpu:1");
        return matrix(matmul(a, x), "pinned");
    }();
    const variable<float, 300, 300> v("v", xt::xtensor<float, 2>(xt::ones<float>({300, 300})));
    const matrix written(v.assign_add(pinned));
    placed(placers::by_cost, written);
    CHECK(where->device_of(*pinned.node()).index == 1);
    CHECK(&where->device_of(*v.node()) == &where->device_of(*written.node()));
    const auto& there = where->device_of(*a.node());
    const std::vector<endpoint> fetches{meet}, feeds{x};
    place(prune(fetches, {}, feeds), *where); // another plan
    CHECK(&where->device_of(*a.node()) == &there);
}

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: what is too small to hand over stays on one device") {
    const tensor small(reduce_sum(x * 2.f) * 3.f);
    const auto made = placed(placers::by_cost, small);
    for (const auto& it : made.items)
        if (it.origin) CHECK(it.device->index == 0);
}

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: a session that places so gives the same") {
    xt::xtensor<float, 2> xs = xt::eye<float>(300);
    const auto wanted = session(g).run(meet, feed(x, xs));
    for (const bool cut : {false, true}) {
        const session s(g, {.device_count = {{"cpu", 2}}, .placer = placers::by_cost, .partition_devices = cut});
        const bool same = s.run(meet, feed(x, xs)) == wanted;
        CHECK(same);
        CHECK(s.partition({meet}, {x}).size() == 2);
    }
}
