// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/merge_region_variants.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/prune.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("merge_region_variants: the variant with the most results runs, and what it does is done once") {
    const graph_scope here{graph()};
    placeholder<double> x("x");
    const variable<double> v("v", 0.);
    const auto y = fold(
        [&](auto h, auto in) {
            v.assign_add(1.);
            return sin(h * in);
        },
        x, constant({2., 3., 4.}));
    const auto [d] = gradients(y, x);
    const auto [d2] = gradients(d, x);
    const node* first = y.node();
    const node* last = first->owner->last_variant(first);
    REQUIRE(last != first);
    CHECK(last->bodies->first_variant == first);
    const std::vector<endpoint> fetches{y.end(), d.end(), d2.end()}, feeds{x.end()};
    const auto whole = prune(fetches, {}, feeds);
    const auto merged = merge_region_variants(whole);
    check(merged, true);
    const auto runs = [&](const subgraph& g) {
        int n = 0;
        for (const auto& it : g.items)
            n += it.origin && it.origin->bodies && it.origin->owner->last_variant(it.origin) == last;
        return n;
    };
    CHECK(runs(whole) > 1);
    CHECK(runs(merged) == 1);
    CHECK(merged.items.size() < whole.items.size());
    const session s;
    s.run(v.initializer());
    s.run(std::tuple(y, d, d2), feed(x, 0.5));
    CHECK(s.run(v) == 3.);
    s.run(d, feed(x, 0.5));
    CHECK(s.run(v) == 6.);
}
