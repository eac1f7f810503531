// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/alone_node.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_runtime_alone_node {

subgraph::item item_of(const node* n) {
    subgraph::item it;
    it.origin = n;
    it.op = n->op;
    return it;
}

TEST_CASE("alone_node: bound to the types that come, again for others") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const any_tensor places = where(x > 0.f);
    const auto store = std::make_shared<detail::resource_store>(default_allocator());
    const detail::alone_node alone(item_of(places.node()), {}, store, default_device());
    CHECK(!alone.waits());
    for (const index_t n : {3, 5, 3}) {
        any_array mask(dtype::boolean, dims{n});
        std::fill_n(static_cast<bool*>(mask.mutable_data()), n, true);
        const auto out = alone.run(std::array{mask}, nullptr, nullptr);
        REQUIRE(out.size() == 1);
        CHECK(out[0].shape() == dims{n, 1});
    }
    alone.close();
    std::shared_ptr<const void> keep;
    CHECK(!alone.begin({}, keep)); // it has no bodies
}

TEST_CASE("alone_node: what goes wrong names the node") {
    const graph_scope here{graph()};
    const auto fails = host_call<float>([](float) -> float { throw not_found("nowhere"); }, constant(1.f));
    const auto store = std::make_shared<detail::resource_store>(default_allocator());
    const detail::alone_node alone(item_of(fails.node()), {}, store, default_device());
    const any_array one = to_any_array<float>(1.f);
    CHECK_THROWS_AS(alone.run(std::array{one}, nullptr, nullptr), not_found);
    CHECK_THROWS_WITH(alone.run(std::array{one}, nullptr, nullptr),
                      contains("nowhere") && contains("node 'host_call'"));
}

} // namespace test_runtime_alone_node
