// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/place_by_cost.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/functionalize/functionalize_control_flow.hpp>
#include <rill/passes/order.hpp>
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
    CHECK(chosen.is_free(*after.node()));
    const auto& second = *chosen.devices().all()[1];
    chosen.choose(*b.node(), second);
    CHECK(!chosen.is_free(*b.node()));
    CHECK(!chosen.is_free(*after.node()));
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

namespace test_place_by_cost {

std::size_t room = 0; // in the memory of "swift": none for other tests, whose sessions have this device as well

struct with_room {
    explicit with_room(std::size_t bytes) { room = bytes; }
    ~with_room() { room = 0; }
    with_room(const with_room&) = delete;
};

/// A type of device that is faster than the CPU, and has kernels of products and fused ops alone.
const device_type& swift() {
    static const memory_space space{
        .name = "swift:0", .bytes = 1 << 30, .free_bytes = [](const memory_space&) { return room; }};
    static const device_type type{.name = "swift", .spaces = {&space}, .flops_per_microsecond = 1e7};
    register_device(type);
    static const bool runs = [] { // nothing runs there: it is only asked whether there are kernels
        detail::register_factory("swift", fusion_group::name, dtype::invalid, 0, {});
        detail::register_factory("swift", "MatMul", dtype::float32, 0, {});
        return true;
    }();
    (void)runs;
    return type;
}

} // namespace test_place_by_cost

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: a device whose memory is full is left out") {
    using namespace test_place_by_cost;
    swift();
    const auto types = [&](std::size_t bytes) {
        const with_room there_is(bytes);
        placement chosen({}, cpu_device(), false, nullptr, placers::by_cost);
        const std::vector<endpoint> fetches{meet}, feeds{x};
        const auto made = place(prune(fetches, {}, feeds), chosen);
        std::size_t there = 0;
        for (const auto& it : made.items) there += it.origin && it.device->type == &swift();
        return there;
    };
    CHECK(types(100'000'000) > 6);
    CHECK(types(300'000) == 0); // less than one product
}

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: a variable that was placed before is not counted twice") {
    using namespace test_place_by_cost;
    swift();
    const with_room there_is(1'000'000);
    const variable<float, 300, 300> v("v", xt::xtensor<float, 2>(xt::ones<float>({300, 300}))); // 360,000 bytes
    const matrix product(matmul(v, v));
    placement chosen({}, cpu_device(), false, nullptr, placers::by_cost);
    chosen.choose(*v.node(), *chosen.devices().first(swift()));
    chosen.device_of(*v.node());
    CHECK(chosen.free_bytes(swift().spaces[0]) == 640'000);
    const std::vector<endpoint> fetches{product};
    place(prune(fetches, {}, {}), chosen);
    CHECK(chosen.device_of(*product.node()).type == &swift());
}

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: a group goes where all of its nodes can run") {
    using namespace test_place_by_cost;
    swift();
    const with_room there_is(100'000'000);
    const auto beside = [&] {
        const colocate_with there(a);
        return tensor<float, 1, 300, 300>(expand_dims<0>(x), "beside"); // it has no kernel there
    }();
    placement chosen({}, cpu_device(), false, nullptr, placers::by_cost);
    CHECK(!chosen.can_run(*a.node(), *chosen.devices().first(swift())));
    CHECK(chosen.can_run(*b.node(), *chosen.devices().first(swift())));
    const std::vector<endpoint> fetches{meet, beside}, feeds{x};
    place(prune(fetches, {}, feeds), chosen);
    CHECK(chosen.device_of(*a.node()).type == &cpu_device());
    CHECK(chosen.device_of(*beside.node()).type == &cpu_device());
    CHECK(chosen.device_of(*b.node()).type == &swift());
}

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: nodes that are colocated count as one") {
    const matrix after = [&] {
        const colocate_with beside(b);
        return matrix(matmul(x, x));
    }();
    placement chosen({{"cpu", 2}}, cpu_device(), false, nullptr, placers::by_cost);
    const std::vector<endpoint> fetches{after, meet}, feeds{x};
    place(prune(fetches, {}, feeds), chosen);
    CHECK(&chosen.device_of(*after.node()) == &chosen.device_of(*b.node()));
    CHECK(&chosen.device_of(*a.node()) != &chosen.device_of(*b.node()));
}

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: measured times move nodes in later plans") {
    const auto record = std::make_shared<cost_record>();
    const std::vector<device_name> tasks{{"localhost", 0, 0, "", -1}};
    std::vector<std::string> heard;
    placement chosen({{"cpu", 2}}, tasks, cpu_device(), false,
                     [&](const node& n, const device& d) { heard.push_back(n.name + " " + std::to_string(d.index)); },
                     placers::by_cost, record);
    CHECK(chosen.costs() == record);
    const placeholder<float> number("number");
    const tensor<float> base(number * 2.f, "base"), first(base + 1.f, "first"), second(base * 3.f, "second");
    const std::vector<endpoint> fetches{first, second}, feeds{number};
    const auto indices = [&] {
        place(prune(fetches, {}, feeds), chosen);
        return std::pair(chosen.device_of(*first.node()).index, chosen.device_of(*second.node()).index);
    };
    CHECK(indices() == std::pair(0, 0));
    const auto told = heard.size();
    CHECK(chosen.may_move(*second.node()));
    for (const auto* name : {"first", "second"}) record->add(name, cpu_device(), 1e4);
    const auto now = indices();
    CHECK(now.first != now.second);
    CHECK(heard.size() == told + 1);
    CHECK(indices() == now);
    const variable<float> v("v", 1.f);
    CHECK(!chosen.may_move(*v.node()));
}

namespace test_place_by_cost {

/// Two chains of products that meet, each worth a device of its own.
template <class M> matrix chains(const M& m) {
    const matrix a(matmul(matmul(m, m), m)), b(matmul(matmul(m * 2.f, m), m));
    return matrix(matmul(a, b));
}

} // namespace test_place_by_cost

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: a loop stays whole, unless a node of its body is pinned") {
    using test_place_by_cost::chains;
    const auto goes_on = [](const auto& m) { return reduce_sum(m) < 1000.f; };
    const matrix start(x * 1.f);
    const auto free = while_loop(goes_on, [](const auto& m) { return chains(m); }, start);
    const auto pinned = while_loop(goes_on,
                                   [](const auto& m) {
                                       const matrix twice = [&] {
                                           const device_scope there("/cpu:1");
                                           return matrix(m * 2.f);
                                       }();
                                       return matrix(matmul(twice, m));
                                   },
                                   start);
    const auto state = merge(enter(start, "loop")); // made of primitives
    const auto ways = switch_(state.value, loop_cond(sealed(goes_on(state.value))));
    close_loop({{state, next_iteration(chains(ways.if_true))}});
    const matrix raised = leave(ways.if_false);

    const session cut(g, {.device_count = {{"cpu", 2}}, .placer = placers::by_cost, .partition_devices = true});
    const session whole(g, {.device_count = {{"cpu", 2}}});
    CHECK(cut.partition({chains(x)}, {x}).size() == 2);
    CHECK(cut.partition({free}, {x}).size() == 1);
    CHECK(cut.partition({raised}, {x}).size() == 1);
    CHECK(cut.partition({pinned}, {x}).size() == 2);
    const xt::xtensor<float, 2> xs = xt::eye<float>(300);
    for (const auto& m : {free, matrix(pinned), raised}) {
        const bool same = cut.run(m, feed(x, xs)) == whole.run(m, feed(x, xs));
        CHECK(same);
    }

    placement chosen({{"cpu", 2}}, cpu_device(), false, nullptr, placers::by_cost);
    const auto& second = *chosen.devices().all()[1];
    const node& body = *free.node()->bodies->back().results[0].from;
    CHECK(chosen.is_free(body));
    chosen.choose(*free.node(), second);
    CHECK(&chosen.device_of(*free.node()) == &second);
    CHECK(!chosen.is_free(body));
    CHECK(&chosen.device_of(body) == &second);
}

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: a branch that is made of primitives") {
    const auto way = switch_(x, sealed(reduce_sum(x) > 0.f));
    const matrix y(merge(way.if_false * 2.f, matmul(way.if_true, way.if_true)).value);
    const std::vector<endpoint> fetches{matrix(matmul(y, meet))}, feeds{x};
    const auto flow =
        detail::functionalize_control_flow({fetches, {}, feeds}, make_op(switch_op{})->functional_ops(), true);
    REQUIRE(flow);
    placement chosen({{"cpu", 2}}, cpu_device(), false, nullptr, placers::by_cost);
    const auto made = place(sort_items(prune(fetches, {}, feeds, nullptr, flow.get())), chosen);
    for (const auto& it : made.items) CHECK((it.device || !it.origin));
    CHECK(chosen.device_of(*a.node()).index != chosen.device_of(*b.node()).index);
}

TEST_CASE_METHOD(test_place_by_cost_fixture,
                 "place by cost: a loop or branch within a loop of primitives stays on the device of that loop") {
    const auto goes_on = [](const matrix& m) { return loop_cond(sealed(reduce_sum(m) < 1000.f)); };
    const auto positive = [&] {
        const device_scope there("/cpu:0");
        return sealed(reduce_sum(x) > 0.f);
    }();
    const auto outer = merge(enter(matrix(x * 1.f), "outer"));
    const auto ways = switch_(outer.value, goes_on(outer.value));
    const matrix& m = ways.if_true;
    matrix work(m);
    for (int i = 0; i < 6; ++i) work = matmul(work, m); // of a higher rank than what could run beside it
    const auto inner = merge(enter(m, "inner"));
    const auto inner_ways = switch_(inner.value, goes_on(inner.value));
    close_loop({{inner, next_iteration(matrix(inner_ways.if_true * 2.f))}});
    const matrix looped = leave(inner_ways.if_false);
    const auto way = switch_(m, positive);
    const matrix branched(merge(matrix(way.if_false * 2.f), matmul(way.if_true, way.if_true)).value);
    close_loop({{outer, next_iteration(matrix(matmul(work, looped + branched) * 0.5f))}});
    const matrix made = leave(ways.if_false);

    const session cut(g, {.device_count = {{"cpu", 2}}, .placer = placers::by_cost, .partition_devices = true});
    CHECK(cut.partition({made}, {x}).size() == 1);
    const session whole(g, {.device_count = {{"cpu", 2}}});
    const xt::xtensor<float, 2> xs = xt::eye<float>(300);
    const bool same = cut.run(made, feed(x, xs)) == whole.run(made, feed(x, xs));
    CHECK(same);

    // where a placer moves the outer loop, the inner ones follow
    const auto run_ops = make_op(switch_op{})->functional_ops();
    const std::vector<endpoint> fetches{made}, feeds{x};
    const auto flow = detail::functionalize_control_flow({fetches, {}, feeds}, run_ops, true);
    REQUIRE(flow);
    placement chosen({{"cpu", 2}}, cpu_device(), false, nullptr, placers::by_cost);
    const auto& second = *chosen.devices().all()[1];
    const node& loop = *flow->of(endpoint(made)).from;
    REQUIRE(loop.bodies);
    chosen.choose(loop, second);
    CHECK(&chosen.device_of(loop) == &second);
    const body& again = loop.bodies->back();
    std::vector<endpoint> given(again.arguments);
    given.insert(given.end(), again.captures.begin(), again.captures.end());
    const auto within = detail::functionalize_control_flow(
        {again.results, again.effects, given, again.of, again.functionalized.get()}, run_ops, true);
    REQUIRE(within);
    const auto items =
        place(sort_items(prune(again.results, again.effects, given, again.of, within.get())), chosen).items;
    int with_bodies = 0;
    for (const auto& it : items) {
        if (!it.origin || it.origin->op->role() != op_role::ordinary) continue;
        INFO(it.origin->name);
        with_bodies += it.origin->bodies != nullptr;
        CHECK(it.device == &second);
    }
    CHECK(with_bodies == 2);
}

TEST_CASE_METHOD(test_place_by_cost_fixture, "place by cost: a loop of primitives keeps its device in later plans") {
    const auto state = merge(enter(x, "loop"));
    const auto ways = switch_(state.value, loop_cond(sealed(reduce_sum(state.value) < 1000.f)));
    close_loop({{state, next_iteration(matrix(ways.if_true * 2.f))}});
    const matrix looped = leave(ways.if_false);
    placement chosen({{"cpu", 2}}, cpu_device(), false, nullptr, placers::by_cost);
    std::vector<std::shared_ptr<const detail::functionalized_graph>> flows; // each has a node of its own for the loop
    const auto device_of_loop = [&](const std::vector<endpoint>& fetches) -> const device* {
        const std::vector<endpoint> feeds{x};
        flows.push_back(
            detail::functionalize_control_flow({fetches, {}, feeds}, make_op(switch_op{})->functional_ops(), true));
        const auto made = place(sort_items(prune(fetches, {}, feeds, nullptr, flows.back().get())), chosen);
        for (const auto& it : made.items)
            if (it.origin && it.origin->bodies) return it.device;
        return nullptr;
    };
    const auto* const first = device_of_loop({looped});
    REQUIRE(first);
    CHECK(device_of_loop({chain(9, 5.f), looped}) == first); // the products would take the loop's device
}
