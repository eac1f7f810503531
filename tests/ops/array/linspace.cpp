// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/linspace.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_linspace {

TEST_CASE("linspace: evenly spread, with both ends") {
    const session s;
    static_assert(std::is_same_v<extents_of<decltype(linspace<5>(0.f, 1.f))>, extents<5>>);
    CHECK(op_test::list(s.run(linspace<5>(0.f, 1.f))) == std::vector<float>{0, 0.25, 0.5, 0.75, 1});
    CHECK(op_test::list(s.run(linspace(2., -1., 4))) == std::vector<double>{2, 1, 0, -1});
    CHECK(op_test::list(s.run(linspace<1>(3.f, 7.f))) == std::vector<float>{3});
    const auto tenths = op_test::list(s.run(linspace(0., 0.7, 8)));
    CHECK(tenths.back() == 0.7);
    CHECK_THROWS_WITH(linspace(0., 1., 0), contains("linspace: the number of values"));
}

} // namespace test_ops_array_linspace
