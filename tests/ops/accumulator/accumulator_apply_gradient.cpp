// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/accumulator/accumulator_apply_gradient.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_accumulator_apply_gradient {

TEST_CASE("accumulator_apply_gradient: adds, and drops what is stale") {
    const graph_scope here{graph()};
    const conditional_accumulator<float, 2> sum("sum", {.reduction_type = "SUM"});
    const session s;
    const operation put = sum.apply_grad(constant({1.f, 2.f}), 0);
    s.run(put);
    s.run(put);
    s.run(sum.apply_grad(constant({1.f, 2.f}), -1));
    CHECK(s.run(std::tuple(sum.num_accumulated(), sum.num_dropped())) == std::tuple(std::int64_t(2), std::int64_t(1)));
    CHECK((s.run(sum.take_grad(2)) == xt::xtensor<float, 1>{2.f, 4.f}));
    const auto* op = find_op(accumulator_apply_gradient_op::name);
    REQUIRE(op);
    CHECK(op->takes(dtype::float64));
    CHECK_FALSE(op->takes(dtype::string));
}

} // namespace test_ops_sync_accumulator_apply_gradient
