// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/scatter.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("scatter: updates that fit") {
    static_assert(updates_fit<extents<4, 3>, extents<2>, extents<2, 3>> &&
                  updates_fit<extents<4>, extents<>, extents<>>);
    static_assert(updates_fit<extents<4, 3>, extents<dyn>, extents<2, 3>>);
    static_assert(!updates_fit<extents<4, 3>, extents<2>, extents<3, 3>> &&
                  !updates_fit<extents<>, extents<>, extents<>>);
    const tensor_type table{dtype::float32, {4, 3}}, ids{dtype::int64, {2, 5}};
    CHECK(detail::scatter_outputs(std::array{table, ids, tensor_type{dtype::float32, {2, 5, 3}}})[0] == table);
    CHECK_THROWS_WITH(detail::scatter_outputs(std::array{table, table, table}),
                      contains("the ids must be int32 or int64"));
    CHECK_THROWS_WITH(detail::scatter_outputs(std::array{table, ids, table}), contains("of shape [2, 5, 3]"));
}
