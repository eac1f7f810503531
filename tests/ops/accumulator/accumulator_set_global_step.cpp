// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/accumulator/accumulator_set_global_step.hpp>

#include <rill/core/log.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_sync_accumulator_set_global_step {

TEST_CASE("accumulator_set_global_step: by number or tensor, going back is said in the log") {
    const graph_scope here{graph()};
    const conditional_accumulator<float> sum("sum");
    placeholder<int> step("step");
    const operation set = sum.set_global_step(step);
    const session s;
    s.run(set, feed(step, 3));
    s.run(sum.apply_grad(1.f, 2));
    CHECK(s.run(sum.num_dropped()) == 1);
    std::string said;
    set_log_sink([&](log_level, std::string_view text) { said = text; });
    s.run(set, feed(step, 1));
    set_log_sink({});
    CHECK_THAT(said, contains("'sum'") && contains("from 3 to 1"));
    s.run(sum.apply_grad(1.f, 2));
    CHECK(s.run(sum.num_accumulated()) == 1);
    CHECK_THROWS_AS(sum.set_global_step(constant(1.f)), invalid_argument);
}

} // namespace test_ops_sync_accumulator_set_global_step
