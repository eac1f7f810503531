// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fused_layout.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_fused_layout {
detail::fused_layout plan(const dims& space, std::initializer_list<dims> leaves, const dims& result) {
    std::vector<tensor_type> types;
    for (const auto& l : leaves) types.push_back({dtype::float32, l});
    const tensor_type out{dtype::float32, result};
    return detail::plan_fused(space, types, std::span(&out, 1), false);
}
} // namespace test_fused_layout

TEST_CASE("fused_layout: dense operands are one long loop") {
    const auto l = test_fused_layout::plan({100, 200, 3}, {{100, 200, 3}, {100, 200, 3}}, {100, 200, 3});
    CHECK(l.rank == 1);
    CHECK(l.all_direct());
    CHECK(l.rows * l.row_size == 60000); // no blocks needed
    CHECK(l.scratch == 0);
}

TEST_CASE("fused_layout: a stretched row is laid out once, a column block by block") {
    const auto l = test_fused_layout::plan({64, 100}, {{64, 100}, {100}, {64, 1}}, {64, 100});
    CHECK(l.leaves[0].direct);
    CHECK_FALSE(l.leaves[1].direct);
    CHECK(l.leaves[1].constant);
    CHECK_FALSE(l.leaves[2].constant);
    CHECK(l.rows == 10); // ten rows of a hundred fit into a block
}

TEST_CASE("fused_layout: a result reduced over stepped dimensions is folded, never written in place") {
    const auto l = test_fused_layout::plan({50, 4000}, {{50, 4000}}, {1, 4000});
    CHECK_FALSE(l.results[0].direct);
    CHECK(test_fused_layout::plan({0, 5}, {{0, 5}}, {1, 5}).total == 0);
    CHECK(test_fused_layout::plan({}, {{}}, {}).total == 1);
}
