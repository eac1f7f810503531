// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/fusion_groups.hpp>

#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/ops/state/assign_add.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>
#include <rill/runtime/segment/binding.hpp>
#include <rill/session/session.hpp>

#include <algorithm>

#include "catch.hpp"

using namespace rill;

namespace test_passes_fusion_groups {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float, dyn, dyn> x{"x"};
    detail::resource_store resources{default_allocator()};

    detail::bound_graph bind(const std::vector<endpoint>& fetches, const dims& shape = dims{40, 50}) {
        const std::vector<tensor_type> types{{dtype::float32, shape}};
        return *detail::binder::bind(sort_items(order_variable_accesses(prune(fetches, {}, std::vector<endpoint>{x}))),
                                     types, resources);
    }
    /// The nodes of each fusion group.
    static std::vector<std::vector<std::string>> groups_of(const detail::bound_graph& b) {
        std::vector<std::vector<std::string>> all;
        for (const auto& c : b.fusion_groups)
            for (auto& names = all.emplace_back(); const int i : c.items) names.push_back(b.graph.name_of(i));
        return all;
    }
    using names = std::vector<std::vector<std::string>>;
};

} // namespace test_passes_fusion_groups

using test_passes_fusion_groups_fixture = test_passes_fusion_groups::fixture;

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: maps and what is reduced of them run together, and only what is fetched has memory") {
    const tensor a(exp(x), "a"), b(a * 2.f, "b"), c(a + b, "c");
    const tensor sum = reduce_sum<0>(c);
    const tensor mean = reduce_mean(b);
    const auto bound = bind({sum, mean, c});
    CHECK(groups_of(bound) == names{{"a", "b", "c", "reduce_sum", "reduce_mean"}});
    CHECK(bound.steps.size() == 1);
    using home = detail::bound_graph::slot_value::home;
    const auto where = [&](const any_tensor& t) {
        for (std::size_t i = 0; i < bound.graph.items.size(); ++i)
            if (bound.graph.items[i].origin == t.node())
                return bound.slots[static_cast<std::size_t>(bound.value_slot[i][0])].where;
        return home::string;
    };
    CHECK(where(a) == home::block);
    CHECK(where(b) == home::block);
    CHECK(where(c) == home::arena);
    CHECK(where(sum) == home::arena);
    const session s;
    const auto [sums, one, all] =
        s.run(std::tuple(sum, mean, c), feed(x, xt::xtensor<float, 2>(std::array<std::size_t, 2>{40, 50}, 0.f)));
    CHECK(std::ranges::all_of(sums, [](float v) { return v == 120.f; }));
    CHECK(one == 2.f);
    CHECK(std::ranges::all_of(all, [](float v) { return v == 3.f; }));
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: end where a value must be whole, or has another shape") {
    const tensor a(exp(x), "a");
    const tensor total = reduce_sum(a);
    const tensor b(a * total, "b"); // needs all of the sum first
    CHECK(groups_of(bind({b})) == names{{"a", "reduce_sum"}});
    placeholder<float, dyn> y("y");
    const tensor row(exp(y), "row");
    const tensor wide(row + x, "wide"); // stretched: another space
    const std::vector<tensor_type> types{{dtype::float32, dims{2, 3}}, {dtype::float32, dims{3}}};
    const auto bound = *detail::binder::bind(
        sort_items(prune(std::vector<endpoint>{wide}, {}, std::vector<endpoint>{x, y})), types, resources);
    CHECK(groups_of(bound).empty());
    const tensor product(matmul(a, a), "product"),
        after(product + a, "after"); // the product stands between a and its sum with it
    CHECK(groups_of(bind({after}, dims{4, 4})).empty());
}

TEST_CASE_METHOD(
    test_passes_fusion_groups_fixture,
    "fusion_groups: not around a node that needs one of theirs, and a device that isn't there does not part them") {
    const tensor a(exp(x), "a"), b(tanh(a), "b");
    const tensor outside(matmul(b, b), "outside");
    const tensor c(b * outside, "c"), d(c + a, "d");
    CHECK(groups_of(bind({d}, dims{4, 4})) == names{{"a", "b"}, {"c", "d"}});
    const auto elsewhere = [&] {
        const device_scope on("/cpu:1");
        return tensor(a * 2.f, "elsewhere");
    }();
    CHECK(groups_of(bind({elsewhere})) == names{{"a", "elsewhere"}}); // both run on the CPU there is
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: integer divisions, whose errors name one node, stay alone, and so do wide sums") {
    placeholder<int, dyn> n("n");
    const tensor a(n + 1, "a"), b(a / n, "b"), c(b * 2, "c");
    const std::vector<tensor_type> types{{dtype::int32, dims{10}}};
    const auto bound = *detail::binder::bind(sort_items(prune(std::vector<endpoint>{c}, {}, std::vector<endpoint>{n})),
                                             types, resources);
    CHECK(groups_of(bound).empty());
    const tensor m(exp(x), "m");
    const tensor rows = reduce_sum<0>(m);
    CHECK(groups_of(bind({rows}, dims{10, 100000})).empty());
    CHECK(groups_of(bind({rows}, dims{1000, 1000})) == names{{"m", "reduce_sum"}});
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: no result is written over what a later node of the group reads, under whatever name") {
    const tensor h(matmul(x, x), "h"), same(identity(h), "same");
    const tensor a(h * 2.f, "a"), b(same + a, "b"),
        c(same * b, "c"); // h, also called same, ends with this group; a is fetched
    const session s;
    const auto [av, cv] =
        s.run(std::tuple(a, c), feed(x, xt::xtensor<float, 2>(std::array<std::size_t, 2>{30, 30}, 0.1f)));
    CHECK(av(7, 7) == Approx(0.6));
    CHECK(cv(7, 7) == Approx(0.27));
    CHECK(cv(29, 29) == Approx(0.27));
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: a constant that stands behind a write holds its readers back") {
    const variable<float> w("w", 1.f);
    const tensor a(tanh(x), "a");
    const auto write = w.assign_add(10.f);
    const auto behind = [&] {
        const control_dependencies after(write);
        return tensor<float>(constant(1.f), "behind");
    }();
    const auto reader = [&] {
        const control_dependencies after(behind);
        return tensor(a * w, "reader");
    }();
    const session s;
    s.run(global_variables_initializer());
    CHECK(s.run(reader, feed(x, xt::xtensor<float, 2>(std::array<std::size_t, 2>{1, 1}, 100.f)))(0, 0) == 11.f);
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: forward and backward, many blocks, equal to the same nodes one by one") {
    const tensor a(tanh(x), "a"), b(a * a + 1.f, "b");
    const tensor loss = reduce_mean(b);
    const auto [dx, da] = gradients(loss, x, a);
    xt::xtensor<float, 2> xv({37, 83});
    for (std::size_t i = 0; i < xv.size(); ++i) xv.storage()[i] = static_cast<float>(i % 19) * 0.1f - 0.9f;
    const session s;
    const auto [all, d, e, l] = s.run(std::tuple(b, dx, da, loss), feed(x, xv));
    const auto alone = s.run(a, feed(x, xv));
    CHECK(std::ranges::equal(s.run(b, feed(a, alone)), all));
    CHECK(std::ranges::equal(s.run(dx, feed(x, xv)), d));
    const auto n = static_cast<float>(xv.size());
    for (std::size_t i = 0; i < xv.size(); ++i) {
        const float t = alone.storage()[i];
        REQUIRE(e.storage()[i] == Approx(2 * t / n).margin(1e-9));
        REQUIRE(d.storage()[i] == Approx(2 * t * (1 - t * t) / n).margin(1e-9));
    }
    double sum = 0;
    for (const float v : all) sum += static_cast<double>(v);
    CHECK(l == Approx(sum / static_cast<double>(n)));
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: those that come together in one node become one, where nothing stands between") {
    const tensor a(exp(x), "a"), b(tanh(a), "b");
    const tensor half(x * 0.5f, "half"), sum(b + half, "sum");
    CHECK(groups_of(bind({sum})) == names{{"a", "b", "half", "sum"}});
    const tensor product(matmul(x, x), "product");
    const tensor late(product * 2.f, "late"), all(b + late, "all"); // late can't begin where a does
    CHECK(groups_of(bind({all}, dims{4, 4})) == names{{"a", "b"}, {"late", "all"}});
    const session s;
    CHECK(s.run(sum, feed(x, xt::xtensor<float, 2>(std::array<std::size_t, 2>{3, 3}, 0.f)))(1, 1) ==
          Approx(std::tanh(1.f)));
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: as long as a kernel's operands allow, and no longer") {
    tensor<float, dyn, dyn> last = x;
    for (int i = 0; i < 100; ++i) last = tensor<float, dyn, dyn>(last * 1.f + x);
    const auto bound = bind({last});
    CHECK(bound.fusion_groups.size() > 1);
    CHECK(bound.steps.size() == bound.fusion_groups.size());
    const session s;
    CHECK(s.run(last, feed(x, xt::xtensor<float, 2>(std::array<std::size_t, 2>{3, 3}, 1.f)))(2, 2) == 101.f);
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture, "fusion_groups: numbers run together, whether one is made of the "
                                                    "other or not, as long as nothing between is needed") {
    const variable<float> v("v", 1.f), w("w", 2.f);
    const tensor a(v * 2.f, "a"), b(w + 1.f, "b"), c(a * b, "c");
    const tensor h(x * c, "h");
    const tensor other(v - w, "other"); // joins those before h
    const tensor total = reduce_sum(h);
    const tensor d(total + b, "d"), e(d * other, "e");
    const auto bound = bind({e, b});
    CHECK(groups_of(bound) == names{{"a", "b", "c", "other"}, {"h", "reduce_sum"}, {"d", "e"}});
    CHECK(bound.steps.size() == 3);
    using home = detail::bound_graph::slot_value::home;
    for (std::size_t i = 0; i < bound.graph.items.size(); ++i)
        if (const auto* n = bound.graph.items[i].origin; n == a.node() || n == d.node())
            CHECK(bound.slots[static_cast<std::size_t>(bound.value_slot[i][0])].where == home::block);
    const session s;
    s.run(global_variables_initializer());
    const auto [ev, bv] =
        s.run(std::tuple(e, b), feed(x, xt::xtensor<float, 2>(std::array<std::size_t, 2>{2, 2}, 1.f)));
    CHECK(bv == 3.f);
    CHECK(ev == -(4 * 6.f + 3));
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: numbers do not make one part of a step wait for another") {
    const tensor left = reduce_sum(x), right = reduce_mean(matmul(x, x));
    const tensor l(left * 2.f, "l"), l2(left + 1.f, "l2"), r(right * 2.f, "r"), l3(l * l2, "l3"), r2(r + right, "r2");
    CHECK(groups_of(bind({l3, r2}, dims{4, 4})) == names{{"l", "l2", "l3"}, {"r", "r2"}});
    const tensor both(l3 + r2, "both");
    CHECK(groups_of(bind({both}, dims{4, 4})) == names{{"l", "l2", "l3"}, {"r", "r2", "both"}});
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture, "fusion_groups: numbers after a write are not before it") {
    const variable<float> v("v", 1.f);
    const tensor before(v * 2.f, "before");
    const auto write = v.assign_add(10.f);
    const tensor after(write * 2.f, "after");
    const auto late = [&] {
        const control_dependencies wait(write);
        return tensor(before + 1.f, "late");
    }();
    const tensor both(after + late, "both"), early(before * 3.f, "early");
    CHECK(groups_of(bind({both, early})) == names{{"late", "both"}, {"before", "early"}});
    const session s;
    s.run(global_variables_initializer());
    const auto [all, first] = s.run(std::tuple(both, early));
    CHECK(all == 25.f);
    CHECK(first == 6.f);
}

TEST_CASE_METHOD(test_passes_fusion_groups_fixture,
                 "fusion_groups: any number of numbers is one step, and a number alone is none") {
    tensor<float> last = reduce_sum(x);
    for (int i = 0; i < 3000; ++i) last = tensor<float>(last * 0.5f + 1.f);
    const auto bound = bind({last});
    CHECK(bound.fusion_groups.size() == 1);
    CHECK(bound.steps.size() == 2);
    const session s;
    CHECK(s.run(last, feed(x, xt::xtensor<float, 2>(std::array<std::size_t, 2>{3, 3}, 1.f))) == 2.f);
    const tensor alone(reduce_sum(x) * 2.f, "alone");
    CHECK(groups_of(bind({alone})).empty());
}
