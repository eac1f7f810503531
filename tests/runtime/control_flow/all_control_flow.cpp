// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/control_flow/all_control_flow.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("all_control_flow: one table, and nothing missing in it") {
    const auto& all = detail::control_flow_of_program();
    CHECK(&all == &detail::control_flow_of_program());
    CHECK(all.raise);
    CHECK(all.is_dataflow);
    CHECK(all.is_staged);
    CHECK(all.close);
    CHECK(all.compile_bodies);
    CHECK(all.bind_region);
    CHECK(all.make_memory);
    CHECK(all.run_region);
    CHECK(all.begin);
    CHECK(all.run);
    CHECK(all.fetched);
}
