// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/bound_body.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("bound_body: which body a value chooses") {
    const auto of = [](auto value, std::size_t bodies) {
        return detail::chosen_body(any_array(dtype_of<decltype(value)>, {}, &value, nullptr), bodies);
    };
    CHECK(of(true, 2) == 0);
    CHECK(of(false, 2) == 1);
    CHECK(of(std::int32_t(1), 3) == 1);
    CHECK(of(std::int32_t(-1), 3) == 2);
    CHECK(of(std::int64_t(1) << 40, 3) == 2);
}

TEST_CASE("bound_body: an error within says in which iteration it came") {
    const auto fails = [](const auto& problem) {
        try {
            throw problem;
        } catch (...) {
            detail::rethrow_from_iteration(12);
        }
    };
    CHECK_THROWS_AS(fails(out_of_range("no more")), out_of_range);
    CHECK_THROWS_WITH(fails(out_of_range("no more")), "in iteration 12: no more");
    CHECK_THROWS_AS(fails(std::runtime_error("another")), std::runtime_error);
}
