// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/executor/dynamic_node.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "ops/sync/pretend_wait.hpp"

using namespace rill;

namespace test_runtime_dynamic_node {

subgraph::item item_of(const node* n) {
    subgraph::item it;
    it.origin = n;
    it.op = n->op;
    return it;
}

TEST_CASE("dynamic_node: bound to the types that come, again for others") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const any_tensor places = where(x > 0.f);
    const auto store = std::make_shared<detail::resource_store>(default_allocator());
    const detail::dynamic_node alone(item_of(places.node()), {}, store, detail::make_placement({}));
    CHECK(!alone.is_async());
    for (const index_t n : {3, 5, 3}) {
        any_array mask(dtype::boolean, dims{n});
        std::fill_n(static_cast<bool*>(mask.mutable_data()), n, true);
        std::array in{mask};
        const auto out = alone.run(in, nullptr, nullptr);
        REQUIRE(out.size() == 1);
        CHECK(out[0].shape() == dims{n, 1});
    }
    alone.close();
    std::shared_ptr<const void> keep;
    CHECK(!alone.begin({}, keep)); // it has no bodies
}

TEST_CASE("dynamic_node: what goes wrong names the node") {
    const graph_scope here{graph()};
    const auto fails = host_call<float>([](float) -> float { throw not_found("nowhere"); }, constant(1.f));
    const auto store = std::make_shared<detail::resource_store>(default_allocator());
    const detail::dynamic_node alone(item_of(fails.node()), {}, store, detail::make_placement({}));
    std::array one{to_any_array<float>(1.f)};
    CHECK_THROWS_AS(alone.run(one, nullptr, nullptr), not_found);
    CHECK_THROWS_WITH(alone.run(one, nullptr, nullptr), contains("nowhere") && contains("node 'host_call'"));
}

TEST_CASE("dynamic_node: a write without bodies is refused") {
    const graph_scope here{graph()};
    const variable<float> v("v", 1.f);
    const auto store = std::make_shared<detail::resource_store>(default_allocator());
    const auto write = item_of(v.assign_add(1.f).node());
    CHECK_THROWS_AS(detail::dynamic_node(write, {}, store, detail::make_placement({})), unimplemented);
    CHECK_THROWS_WITH(detail::dynamic_node(write, {}, store, detail::make_placement({})),
                      contains("writes a variable") && contains("'assign_add'"));
}

TEST_CASE("dynamic_node: one that keeps its operands takes over what nobody shares, and copies the rest") {
    const graph_scope here{graph()};
    const fifo_queue<tensor<float, dyn>> q;
    placeholder<float, dyn> x("x");
    const auto store = std::make_shared<detail::resource_store>(default_allocator());
    const auto alone = [&](const rill::node* n) {
        return detail::dynamic_node(item_of(n), {}, store, detail::make_placement({}));
    };
    const auto made = alone(q.handle().node()), put = alone(q.enqueue(x).node());
    const auto take = alone(any_tensor(q.dequeue()).node());
    const any_array handle = made.run({}, nullptr, nullptr)[0];
    const auto through = [&](any_array given) {
        std::array in{handle, std::move(given)};
        sync_test::pretend_wait waits;
        put.run(in, nullptr, &waits);
        std::array of{handle};
        return std::move(take.run(of, nullptr, &waits)[0]);
    };
    any_array mine(dtype::float32, dims{5000});
    std::fill_n(static_cast<float*>(mine.mutable_data()), 5000, 3.f);
    const void* const lies = mine.data();
    const any_array first = through(std::move(mine));
    CHECK(first.data() == lies);
    const any_array second = through(first); // it has two owners
    CHECK(second.data() != lies);
    CHECK(second.elements<float>()[4999] == 3.f);
    const any_array third = through(any_array(dtype::float32, dims{5000}, lies, nullptr));
    CHECK(third.data() != lies);
    tracked_allocator elsewhere; // what is made there may not outlive it
    any_array far(dtype::float32, dims{2}, elsewhere);
    CHECK(through(std::move(far)).memory() == &default_allocator());
}

} // namespace test_runtime_dynamic_node
