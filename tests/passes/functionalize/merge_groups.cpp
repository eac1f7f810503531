// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/functionalize/merge_groups.hpp>

#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("merge_groups: merges of one predicate are one group, but those that depend on it") {
    const graph_scope here{graph()};
    const placeholder<bool> p("p"), q("q");
    detail::merge_groups groups;
    CHECK(groups.add(p, {}) == 0);
    CHECK(groups.add(p, {}) == 0);
    CHECK(groups.add(p, {0}) == 1);
    CHECK(groups.add(q, {1}) == 2);
    CHECK(groups.add(p, {2}) == 3); // it depends on both groups of p by way of q's
    CHECK(groups.add(p, {}) == 0);
    CHECK(groups.add(p, {0}) == 1);
}

TEST_CASE("merge_groups: no two groups depend on one another") {
    const graph_scope here{graph()};
    const placeholder<bool> p("p"), q("q");
    detail::merge_groups groups;
    CHECK(groups.add(p, {}) == 0);
    CHECK(groups.add(q, {0}) == 1);
    CHECK(groups.add(q, {}) == 1);
    CHECK(groups.add(p, {1}) == 2); // of q's second merge, which the first group of p has become part of
}
