// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/cost_record.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("cost record: the median of the last nine times of a node") {
    cost_record costs;
    CHECK(costs.empty());
    CHECK(!costs.of("a"));
    for (const double t : {5., 1., 3.}) costs.add("a", cpu_device(), t);
    CHECK(!costs.empty());
    CHECK(costs.of("a")->microseconds == 3);
    CHECK(costs.of("a")->on == &cpu_device());
    costs.add("a", cpu_device(), 4);
    CHECK(costs.of("a")->microseconds == 3); // of an even number: the lower one
    CHECK(!costs.of("b"));
    for (int i = 0; i < 9; ++i) costs.add("a", cpu_device(), 100 + i);
    CHECK(costs.of("a")->microseconds == 104); // the first four are forgotten
}

TEST_CASE("cost record: times on another type of device replace the earlier ones") {
    const device_type slow{.name = "slow"};
    cost_record costs;
    for (int i = 0; i < 3; ++i) costs.add("a", cpu_device(), 1);
    costs.add("a", slow, 7);
    CHECK(costs.of("a")->microseconds == 7);
    CHECK(costs.of("a")->on == &slow);
}
