// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/complex_part.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("complex_part: where parts go") {
    const auto whole = detail::part_layout({2, 3}, {2, 3});
    CHECK(whole.rank == 1);
    CHECK(whole.extent[0] == 6);
    CHECK(whole.from[0] == 1);
    CHECK(whole.to[0] == 2);
    const auto row = detail::part_layout({3}, {2, 3});
    CHECK(row.rank == 2);
    CHECK(row.from[0] == 0);
    CHECK(row.from[1] == 1);
    CHECK(row.to[0] == 6);
    CHECK(detail::part_outputs({dtype::complex64, {2}}) == std::vector<tensor_type>{{dtype::float32, {2}}});
}
