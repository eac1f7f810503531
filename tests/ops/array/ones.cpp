// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/ones.hpp>

#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("ones: constants") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    static_assert(std::is_same_v<decltype(ones<float, 2, 3>()), constant_value<float, 2, 3>>);
    const auto value = s.run(ones<float, 2, 3>());
    CHECK(std::all_of(value.begin(), value.end(), [](float v) { return v == 1.f; }));
    CHECK(s.run(ones<int, 4>())(3) == 1);
    CHECK(s.run(ones<double>()) == 1.);
    CHECK(s.run(ones<bool, 1>())(0) == static_cast<bool>(1));
    CHECK(s.run(ones<std::complex<float>, 1>())(0) == std::complex<float>(1));
    CHECK(s.run(ones<half, 1>())(0) == half(1.f));
    CHECK(s.run(ones(dtype::int64, {2})).elements<std::int64_t>()[1] == 1);
    CHECK_THROWS_AS(ones(dtype::string, {2}), invalid_argument);
    CHECK_THROWS_AS(ones(dtype::float32, {2, dyn}), invalid_argument);
}

TEST_CASE("ones: has the place where it was made") {
    CHECK(ones<float, 2>().where().line() == std::source_location::current().line());
}
