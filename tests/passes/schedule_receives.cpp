// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/schedule_receives.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/partition.hpp>
#include <rill/passes/place.hpp>
#include <rill/passes/prune.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_schedule_receives {

using matrix = tensor<float, 300, 300>; // 360,000 bytes

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float, 300, 300> x{"x"};
    placement where{{{"cpu", 2}}, cpu_device(), false};

    fixture() { detail::register_exchange_ops(); }

    template <class F> static auto on(int cpu, const F& make) {
        const device_scope there("/cpu:" + std::to_string(cpu));
        return make();
    }
    /// Returns the products of a chain on the second device.
    std::vector<matrix> chain(int n) const {
        std::vector<matrix> all;
        on(1, [&] {
            for (int i = 0; i < n; ++i) all.push_back(matrix(matmul(i ? all.back() : matrix(x * 0.5f), x)));
            return 0;
        });
        return all;
    }
    /// Returns what the Receives of the second part wait for, by name. Receives wait for their Sends, which are in the other part.
    std::vector<std::string> waits(const endpoint& fetch, const std::vector<const node*>& targets = {}) {
        const std::vector<endpoint> fetches{fetch}, feeds{x};
        exchange_inserter inserter([](const device& d) -> const device& { return d; }, where.devices());
        auto items = inserter.run(place(prune(fetches, targets, feeds), where));
        items = inserter.schedule(inserter.bundle(sort_items(order_variable_accesses(std::move(items)))));
        check(items, true);
        const auto made = inserter.take_apart(items);
        std::vector<std::string> names;
        for (const auto& p : made.parts)
            for (const auto& it : p.steps.items)
                if (it.edge >= 0 && it.op->is_async())
                    for (const int a : it.after) names.push_back(p.steps.name_of(a));
        return names;
    }
};

} // namespace test_schedule_receives

using test_schedule_receives_fixture = test_schedule_receives::fixture;

TEST_CASE_METHOD(test_schedule_receives_fixture,
                 "schedule receives: a value that is read last is received after the peak") {
    const auto early = on(0, [&] { return tensor(x * 2.f, "early"); });
    const auto products = chain(4); // two of them live at once, beside the value that came early
    const auto y = on(1, [&] { return tensor(reduce_sum(products.back() * early), "y"); });
    CHECK(waits(y) == std::vector<std::string>{products.back().node()->name});

    // and the run is the same
    xt::xtensor<float, 2> xs = xt::eye<float>(300);
    const session whole(g, {.device_count = {{"cpu", 2}}});
    const session cut(g, {.device_count = {{"cpu", 2}}, .partition_devices = true});
    CHECK(cut.run(y, feed(x, xs)) == whole.run(y, feed(x, xs)));
    bool found = false;
    for (const auto& p : cut.partition({y}, {x}))
        if (const auto* receive = p.graph.state().find("_x/receive_0"))
            for (const auto* c : receive->control_inputs) found = found || c->name == products.back().node()->name;
    CHECK(found);
}

TEST_CASE_METHOD(test_schedule_receives_fixture, "schedule receives: what lowers no peak waits for nothing") {
    const auto early = on(0, [&] { return tensor(x * 2.f, "early"); });
    SECTION("it is read at the peak") {
        const auto other = on(1, [&] { return tensor(x * 0.5f, "other"); });
        CHECK(waits(on(1, [&] { return tensor(reduce_sum(other * early)); })).empty());
    }
    SECTION("it is small") {
        const auto little = on(0, [&] { return tensor(reduce_sum(early), "little"); });
        const auto products = chain(4);
        CHECK(waits(on(1, [&] { return tensor(reduce_sum(products.back()) * little); })).empty());
    }
    SECTION("others are far larger") {
        const auto products = chain(12);
        const auto y = on(1, [&] {
            tensor<float> all(reduce_sum(products[0]));
            for (const auto& p : products) all = tensor<float>(all + reduce_sum(p)); // all of them live to the end
            return tensor<float>(all + reduce_sum(products.back() * early));
        });
        CHECK(waits(y).empty());
    }
}

TEST_CASE_METHOD(test_schedule_receives_fixture,
                 "schedule receives: what a value is needed for through another part is not waited for") {
    const auto early = on(0, [&] { return tensor(x * 2.f, "early"); });
    const auto products = chain(4);
    // the second device asks the first one, which needs an answer to go on
    const auto asked = on(1, [&] { return tensor(reduce_sum(early), "asked"); });
    const auto answer = on(0, [&] { return tensor(x * asked, "answer"); });
    const auto y = on(1, [&] { return tensor(reduce_sum(products.back() * answer) + reduce_sum(early), "y"); });
    waits(y); // check() finds cycles
    xt::xtensor<float, 2> xs = xt::eye<float>(300);
    const session whole(g, {.device_count = {{"cpu", 2}}});
    const session cut(g, {.device_count = {{"cpu", 2}}, .partition_devices = true});
    CHECK(cut.run(y, feed(x, xs)) == whole.run(y, feed(x, xs)));
}

TEST_CASE_METHOD(test_schedule_receives_fixture,
                 "schedule receives: nothing waits for what may wait for the received value, though no edge shows it") {
    // the dequeue waits for the enqueue, which needs the value
    const auto big = on(0, [&] { return tensor(x * 2.f, "big"); });
    const auto made = on(1, [&] {
        const fifo_queue<matrix> q;
        const matrix first(q.dequeue());
        matrix last(matmul(first, x));
        for (int i = 0; i < 3; ++i) last = matrix(matmul(last, x));
        const auto enqueued = q.enqueue(big);
        return std::tuple(tensor(reduce_sum(last), "y"), enqueued);
    });
    CHECK(waits(std::get<0>(made), {std::get<1>(made).node()}).empty());
    xt::xtensor<float, 2> xs = xt::eye<float>(300);
    const session cut(
        g, {.device_count = {{"cpu", 2}}, .partition_devices = true, .progress_timeout = std::chrono::seconds(20)});
    CHECK(std::get<0>(cut.run(made, feed(x, xs))) == 600.f);
}
