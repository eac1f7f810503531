// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/registry.hpp>

#include <algorithm>
#include <cstdlib>

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

TEST_CASE("registry: a program takes the best kernels that the processor and the environment allow") {
    const int best = best_level();
    CHECK(best >= 0);
    CHECK(supports_level(best));
    if (const char* const asked = std::getenv("RILL_LEVEL")) CHECK(best <= std::atoi(asked));
    const auto product =
        the_kernels().blocks.find("Mul($0:float32,$1:float32)"); // rill::kernels has it for every level
    REQUIRE(product);
    CHECK(product->level <= std::max(best, RILL_ISA_LEVEL));
#if RILL_TEST_LEVELS
    CHECK(product->level == std::max({best >= 4 ? 4 : best >= 3 ? 3 : 0, RILL_ISA_LEVEL}));
#endif
}
