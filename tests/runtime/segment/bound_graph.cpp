// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/bound_graph.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("bound_graph: types and slots of values, members of fusion groups") {
    detail::bound_graph b;
    b.types = {{{dtype::float32, dims{2}}}, {{dtype::int32, dims{}}, {dtype::boolean, dims{3}}}};
    b.value_slot = {{4}, {0, 7}};
    CHECK(b.type_of({0, 0}).shape == dims{2});
    CHECK(b.type_of({1, 1}).type == dtype::boolean);
    CHECK(b.slot_of({1, 0}) == 0);
    CHECK(b.slot_of({1, 1}) == 7);
    const detail::bound_graph::bound_fusion_group c{{3, 8, 9}, {}};
    CHECK(c.member_of(3) == 0);
    CHECK(c.member_of(9) == 2);
}
