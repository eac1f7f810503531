// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/registry.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("registry: the better instruction set wins, whatever the order") {
    detail::registry_table<int> table;
    CHECK_FALSE(table.find("a"));
    table.add("a", 1, 10);
    table.add("a", 3, 30);
    table.add("a", 2, 20);
    REQUIRE(table.find("a"));
    CHECK(*table.find("a") == 30);
    CHECK(detail::kernel_key("MatMul", dtype::float32) == "MatMul/float32");
    CHECK(supports_level(0));
    CHECK(&the_kernels() == &the_kernels());
}
