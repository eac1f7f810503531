// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/plan_key.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("plan key: fetches, targets and feeds tell runs apart, also by their order") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float> x, y;
    const tensor sum = x + y;
    const auto hash = [](const detail::plan_key& k) { return detail::plan_key::hash()(k); };
    const detail::plan_key key{{sum.end()}, {}, {x.end(), y.end()}}, same = key;
    CHECK(key == same);
    CHECK(hash(key) == hash(same));
    for (const detail::plan_key& other : {detail::plan_key{{sum.end()}, {}, {y.end(), x.end()}},
                                          detail::plan_key{{}, {sum.end().from}, {x.end(), y.end()}},
                                          detail::plan_key{{sum.end(), x.end()}, {}, {y.end()}}, detail::plan_key{}}) {
        CHECK_FALSE(key == other);
        CHECK(hash(key) != hash(other));
    }
}
