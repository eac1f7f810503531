// SPDX-License-Identifier: BSD-3-Clause
#include <rill/link/dynamic_runtime.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("dynamic_runtime: registers one table, and nothing is missing in it") {
    detail::register_dynamic_runtime();
    const auto& all = *detail::registered_dynamic_runtime.load();
    detail::register_dynamic_runtime();
    CHECK(&all == detail::registered_dynamic_runtime.load());
    CHECK(all.functionalize);
    CHECK(all.make_dataflow_plan);
    CHECK(all.make_staged_plan);
    CHECK(all.needs_stages);
    CHECK(all.may_need_stages);
    CHECK(all.close);
    CHECK(all.compile_bodies);
    CHECK(all.bind_region);
    CHECK(all.make_memory);
    CHECK(all.run_region);
    CHECK(all.begin);
    CHECK(all.start);
    CHECK(all.drive);
    CHECK(all.fetched);
}
