// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/log.hpp>
#include <rill/device/kernel_registry.hpp>

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

TEST_CASE("registry: each block function of an expression is the best that was registered") {
    const block_function lesser = [](const block_args&) {}, better = [](const block_args& a) { (void)a.n; };
    const std::string key = "TestRegistryExpression($0:float32)";
    detail::register_blocks(key, 0, {lesser, lesser, nullptr});
    detail::register_primitive_blocks(key, 1, better, 8); // it has no adjoint
    auto known = the_kernels().blocks.find(key);
    REQUIRE(known);
    CHECK(known->forward == better);
    CHECK(known->level == 1);
    CHECK(known->lanes == 8);
    CHECK(known->adjoint == lesser);
    CHECK(known->adjoint_lanes == 1);
    CHECK(known->adjoint_level == 0);
    detail::register_blocks(key, 0, {lesser, better, nullptr});
    known = the_kernels().blocks.find(key);
    CHECK(known->forward == better);
    CHECK(known->adjoint == better); // the later of equals
}

#if !defined(_WIN32) // which has no setenv
TEST_CASE("registry: RILL_LEVEL says what it may") {
    const std::string before = std::getenv("RILL_LEVEL") ? std::getenv("RILL_LEVEL") : "";
    const auto with = [](const char* level) {
        setenv("RILL_LEVEL", level, 1);
        return best_level();
    };
    const int best = with("4");
    CHECK(with("1") == 1);
    CHECK(with("3") == std::min(best, 3));
    CHECK(with("") == best); // as if it were not set
    std::string said;
    set_log_sink([&](log_level, std::string_view text) { said = text; });
    CHECK(with("v3") == best);
    set_log_sink({});
    CHECK(said.find("'v3'") != std::string::npos);
    before.empty() ? unsetenv("RILL_LEVEL") : setenv("RILL_LEVEL", before.c_str(), 1);
}
#endif

TEST_CASE("registry: a program takes the best kernels that the processor and the environment allow") {
    const int best = best_level();
    CHECK(supports_level(best));
    if (const char* const asked = std::getenv("RILL_LEVEL")) CHECK(best <= std::max(std::atoi(asked), 1));
    const auto product =
        the_kernels().blocks.find("Mul($0:float32,$1:float32)"); // rill::kernels has it for every level
    REQUIRE(product);
    CHECK(product->level <= std::max(best, RILL_ISA_LEVEL));
#if RILL_TEST_LEVELS
    CHECK(product->level == std::max({best >= 2 ? best : 0, RILL_ISA_LEVEL}));
#endif
}
