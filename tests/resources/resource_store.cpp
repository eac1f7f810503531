// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/resource_store.hpp>

#include <rill/ops/state/variable.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_resource_store {

TEST_CASE("resources: each node has its own variable, the same for every asker") {
    detail::resource_store store(default_allocator());
    const graph g;
    node a, b, open;
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

} // namespace test_resource_store
