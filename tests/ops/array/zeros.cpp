// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/zeros.hpp>

#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("zeros: constants") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    static_assert(std::is_same_v<decltype(zeros<float, 2, 3>()), constant_value<float, 2, 3>>);
    const auto value = s.run(zeros<float, 2, 3>());
    CHECK(std::all_of(value.begin(), value.end(), [](float v) { return v == 0.f; }));
    CHECK(s.run(zeros<int, 4>())(3) == 0);
    CHECK(s.run(zeros<double>()) == 0.);
    CHECK(s.run(zeros<bool, 1>())(0) == static_cast<bool>(0));
    CHECK(s.run(zeros<std::complex<float>, 1>())(0) == std::complex<float>(0));
    CHECK(s.run(zeros<half, 1>())(0) == half(0.f));
    CHECK(s.run(zeros(dtype::int64, {2})).elements<std::int64_t>()[1] == 0);
    CHECK_THROWS_AS(zeros(dtype::string, {2}), invalid_argument);
    CHECK_THROWS_AS(zeros(dtype::float32, {2, dyn}), invalid_argument);
}

TEST_CASE("zeros: has the place where it was made") {
    CHECK(zeros<float, 2>().where().line() == std::source_location::current().line());
}

TEST_CASE("zeros: of open extents") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<int> batch("batch");
    const placeholder<std::int64_t> steps("steps");
    const auto rows = zeros<float, dyn, 3>(batch);
    static_assert(std::is_same_v<decltype(zeros<float, dyn, 3>(batch)), tensor<float, dyn, 3>>);
    const auto value = s.run(rows, feed(batch, 2));
    CHECK(value.shape(0) == 2);
    CHECK(std::all_of(value.begin(), value.end(), [](float v) { return v == 0.f; }));
    CHECK(s.run(rows, feed(batch, 0)).size() == 0);
    CHECK(s.run(zeros<double, 2, dyn>(5)).shape(1) == 5);
    const auto table = s.run(zeros<int, dyn, 2, dyn>(4, steps), feed(steps, std::int64_t{3}));
    CHECK(table.shape(0) == 4);
    CHECK(table.shape(2) == 3);
    CHECK_THROWS_WITH(s.run(rows, feed(batch, -1)), contains("an extent is negative"));
    CHECK_THROWS_AS((zeros<float, dyn, 3>(-1)), rill::error);
}
