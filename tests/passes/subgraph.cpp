// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/subgraph.hpp>

#include <cstddef>
#include <tuple>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/while_loop.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/tanh.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_subgraph {

/// Item 1 uses item 0, item 2 runs after item 1; item 2 is fetched.
inline subgraph chain() {
    subgraph g;
    g.items.resize(3);
    g.items[1].inputs = {{0, 0}};
    g.items[2].after = {1};
    g.fetches = {{2, 0}};
    g.targets = {1};
    return g;
}

} // namespace test_subgraph

TEST_CASE("subgraph: the check lets well-formed ones pass") {
    CHECK_NOTHROW(check(test_subgraph::chain(), true));
    CHECK_NOTHROW(check(subgraph(), true));
}

TEST_CASE("subgraph: the check finds what a pass left malformed") {
    using test_subgraph::chain;
    auto g = chain();
    g.items[1].inputs = {{2, 0}}; // runs later: fine only before items are sorted
    CHECK_NOTHROW(check(g, false));
    CHECK_THROWS_AS(check(g, true), internal);
    g = chain();
    g.items[1].inputs = {{1, 0}}; // itself
    CHECK_THROWS_AS(check(g, true), internal);
    for (const int nowhere : {-1, 3}) {
        g = chain();
        g.items[1].inputs = {{nowhere, 0}};
        CHECK_THROWS_AS(check(g, false), internal);
        g = chain();
        g.items[2].after = {nowhere};
        CHECK_THROWS_AS(check(g, false), internal);
        g = chain();
        g.fetches = {{nowhere, 0}};
        CHECK_THROWS_AS(check(g, false), internal);
        g = chain();
        g.targets = {nowhere};
        CHECK_THROWS_AS(check(g, false), internal);
    }
}

TEST_CASE("subgraph: what an item is called") {
    node n;
    n.name = "layer/x";
    subgraph g;
    g.items.resize(3);
    g.items[0].origin = &n;
    g.items[1].feed = 0;
    g.feeds = {{&n, 1}};
    CHECK(g.name_of(0) == "layer/x");
    CHECK(g.name_of(1) == "feed of layer/x:1");
    CHECK(g.name_of(2) == "copy");
    CHECK(g.items[2].is_copy());
    CHECK_FALSE(g.items[1].is_copy());
    CHECK(g.role(2) == op_role::ordinary);
}

TEST_CASE("subgraph: what a loop with swap_memory keeps for its gradient lies in host memory, and its slices are read "
          "there") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 3> x("x");
    const auto kept_on = [&](bool swap) {
        const auto [k, v] = while_loop([](auto i, auto) { return i < 3; },
                                       [](auto i, auto t) { return std::tuple(i + 1, tensor(tanh(t))); },
                                       std::tuple(0, x), {.swap_memory = swap});
        const auto [dx] = gradients(reduce_sum(v), x);
        subgraph::item forward, backward;
        for (const node* n = dx.node(); !forward.origin; n = n->inputs[0].from) {
            if (!n->bodies) continue;
            backward.origin = n;
            for (const auto& e : n->inputs)
                if (e.from->bodies) forward.origin = e.from;
        }
        static const memory_space memory{"kept"};
        static const device_type type{"test_passes_subgraph"};
        static const device there{&type, 0, &memory};
        for (auto* it : {&forward, &backward}) {
            it->op = it->origin->op;
            it->device = &there;
        }
        const auto kept = static_cast<int>(first_variant(*forward.origin)->outputs.size());
        REQUIRE(forward.origin->outputs.size() > static_cast<std::size_t>(kept));
        CHECK(forward.output_memory(0) == &memory);
        const auto last = static_cast<std::size_t>(backward.op->regions()->operands) - 1;
        CHECK(backward.input_memory(0) == &memory);
        CHECK((backward.input_memory(last) == nullptr) == (forward.output_memory(kept) == nullptr));
        CHECK(is_swapped({forward.origin, kept}) == swap);
        return forward.output_memory(kept) != nullptr;
    };
    CHECK(kept_on(false));
    CHECK_FALSE(kept_on(true));
}
