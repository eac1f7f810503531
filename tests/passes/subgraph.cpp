// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/subgraph.hpp>

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
