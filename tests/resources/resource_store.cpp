// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/resource_store.hpp>

#include <rill/ops/state/variable.hpp>
#include <rill/resources/container_set.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_resource_store {

TEST_CASE("resource_store: each node has its own variable, the same for every asker") {
    detail::resource_store store(default_allocator());
    const graph g;
    node a, b, open;
    a.name = "a";
    b.name = "b";
    a.owner = b.owner = open.owner = &g.state();
    a.outputs = b.outputs = {{dtype::float32, dims{2}}};
    open.name = "open";
    a.op = b.op = open.op = make_op(variable_op{a.outputs[0]});
    open.outputs = {{dtype::float32, dims{dyn}}};
    CHECK(store.variable(&a) == store.variable(&a));
    CHECK(store.variable(&a) != store.variable(&b));
    CHECK(store.variable(&a)->type() == a.outputs[0]);
    CHECK_THROWS_AS(store.variable(&open), unimplemented);
    CHECK_THROWS_WITH(store.variable(&open), contains("'open'"));
}

TEST_CASE("resource_store: a variable is known by its name, whichever graph and session has made it") {
    const auto task = std::make_shared<detail::container_set>(default_allocator());
    detail::resource_store one(default_allocator(), {}, task), other(default_allocator(), {}, task),
        local(default_allocator());
    const graph g, h;
    node made, found, another, elsewhere;
    made.owner = &g.state();
    found.owner = another.owner = elsewhere.owner = &h.state();
    made.name = found.name = another.name = "v";
    elsewhere.name = "w";
    made.outputs = found.outputs = elsewhere.outputs = {{dtype::float32, dims{2}}};
    another.outputs = {{dtype::float32, dims{3}}};
    made.op = found.op = elsewhere.op = make_op(variable_op{made.outputs[0]});
    another.op = make_op(variable_op{another.outputs[0]});
    CHECK(!other.known_variable(&found));
    const auto v = one.variable(&made);
    CHECK(other.known_variable(&found) == v); // it was looked up in vain before
    CHECK(other.variable(&found) == v);
    CHECK(!other.known_variable(&another));
    CHECK(!other.known_variable(&elsewhere));
    CHECK_THROWS_WITH(other.variable(&another), contains("float32 [2]") && contains("float32 [3]"));
    CHECK(!local.known_variable(&made));
    CHECK(local.variable(&made) != v);
    one.release(); // the task keeps it
    CHECK(one.variable(&made) == v);
    local.release();
    CHECK(!local.known_variable(&made));

    const memory_space space{.name = "device_of_the_test", .blocks = &default_allocator()};
    detail::resource_store third(default_allocator(), {}, task);
    CHECK_THROWS_WITH(third.variable(&found, &space), contains("in memory of device_of_the_test"));
    CHECK(third.variable(&elsewhere, &space) == third.variable(&elsewhere, &space));
    CHECK_THROWS_AS(other.variable(&elsewhere), invalid_argument);
}

TEST_CASE("resource_store: a replica draws with seeds of its own, unless the state is shared") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(3);
    const auto seed = [](int replica, const auto& x) {
        detail::resource_store store(default_allocator(), {}, nullptr, replica);
        kernel_request request{{}, {}};
        const node* n = any_tensor(x).node();
        store.answer(request, *n->op, *n);
        return request.seed;
    };
    const variable<float> own("own", 0.f), shared("shared", 0.f, {.shared_name = "of_all"});
    const auto by_name = detail::hash_combine(3, detail::hash_bytes("own"));
    CHECK(seed(0, own) == by_name);
    CHECK(seed(1, own) == seed(1, own));
    CHECK(seed(1, own) != by_name);
    CHECK(seed(1, own) != seed(2, own));
    CHECK(seed(1, shared) == seed(0, shared));
}

} // namespace test_resource_store
