// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/scatter_sub.hpp>

#include "ops/state/scatter_test.hpp"

namespace test_scatter_sub {
struct op {
    static constexpr auto name = "scatter_sub";
    static auto of(const auto& v, const auto& ids, const auto& updates) { return v.scatter_sub(ids, updates); }
    static auto join(auto old, auto given) { return old - given; }
};
} // namespace test_scatter_sub

TEST_CASE("scatter_sub: slices where ids say, in their order, and nothing where one is outside") {
    scatter_test::all<test_scatter_sub::op>();
}
