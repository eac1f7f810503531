// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/accumulator/accumulator_counts.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_accumulator_counts {

TEST_CASE("accumulator_counts: both of one moment") {
    const graph_scope here{graph()};
    const conditional_accumulator<int> sum("sum");
    const session s;
    CHECK(s.run(std::tuple(sum.num_accumulated(), sum.num_dropped())) == std::tuple(std::int64_t(0), std::int64_t(0)));
    s.run(sum.apply_grad(1, 0));
    CHECK(s.run(sum.num_accumulated()) == 1);
    const fifo_queue<tensor<int>> other;
    CHECK_THROWS_WITH(
        s.run(any_tensor(apply_node(accumulator_counts_op{}, std::source_location::current(), other.handle()))),
        contains("conditional_accumulator is expected") && contains("FIFOQueue"));
}

} // namespace test_ops_sync_accumulator_counts
