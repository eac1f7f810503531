// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/executor/run_plan.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_runtime_run_plan {

TEST_CASE("run_plan: a plan whose nodes wait is part of another's step, others run on their own") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const tensor line = x + 1.f;
    const any_tensor sized = boolean_mask(x, x > 1.f);
    const auto store = std::make_shared<detail::resource_store>(default_allocator());
    const auto plan_of = [&](const endpoint& e) {
        return std::make_unique<detail::plan>(detail::plan_key{{e}, {}, {x.end()}}, session_options{}, store,
                                              detail::make_placement({}));
    };
    const float two[] = {1, 2};
    const std::vector<any_array> fed{detail::owned_copy(dtype::float32, {2}, two)};
    const auto plain = plan_of(line.end());
    CHECK_FALSE(detail::nested_run_of(*plain, fed));
    const auto values = detail::run_plan(*plain, fed, nullptr);
    REQUIRE(values.size() == 1);
    CHECK(values[0].shape() == dims{2});
    CHECK(static_cast<const float*>(values[0].data())[1] == 3.f);
    CHECK(detail::nested_run_of(*plan_of(sized.end()), fed));
}

} // namespace test_runtime_run_plan
