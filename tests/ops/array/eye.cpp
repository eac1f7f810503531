// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/eye.hpp>

#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("eye: ones on the diagonal") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    static_assert(std::is_same_v<decltype(eye<float, 3>()), constant_value<float, 3, 3>>);
    static_assert(std::is_same_v<decltype(eye<int>(3)), constant_value<int, dyn, dyn>>);
    const auto square = s.run(eye<float, 3>());
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) CHECK(square(i, j) == (i == j ? 1.f : 0.f));
    const auto wide = s.run(eye<int, 2, 3>()), tall = s.run(eye<int>(3, 2));
    CHECK(wide(1, 1) == 1);
    CHECK(wide(1, 2) == 0);
    CHECK(tall(1, 1) == 1);
    CHECK(tall(2, 1) == 0);
    CHECK(s.run(eye<double>(0)).size() == 0);
    CHECK_THROWS_AS(eye<double>(-1), invalid_argument);
}

TEST_CASE("eye: has the place where it was made") {
    CHECK(eye<float, 2>().where().line() == std::source_location::current().line());
    CHECK(eye<float>(2).where().line() == std::source_location::current().line());
    CHECK(eye<float>(2, 3).where().line() == std::source_location::current().line());
}
