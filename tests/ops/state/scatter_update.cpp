// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/scatter_update.hpp>

#include "ops/state/scatter_test.hpp"

namespace test_scatter_update {
struct op {
    static constexpr auto name = "scatter_update";
    static auto of(const auto& v, const auto& ids, const auto& updates) { return v.scatter_update(ids, updates); }
    static auto join(auto, auto given) { return given; }
};
} // namespace test_scatter_update

TEST_CASE("scatter_update: slices where ids say, in their order, and nothing where one is outside") {
    scatter_test::all<test_scatter_update::op>();
}
