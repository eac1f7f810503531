// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/dims.hpp>

#include <rill/core/error.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_dims {
struct rule {
    static constexpr dims value{2, dyn, 0};
};
struct scalar_rule {
    static constexpr dims value{};
};
} // namespace test_dims

TEST_CASE("tensor_type: the memory of its elements") {
    STATIC_REQUIRE(tensor_type{dtype::float64, {2, 3}}.bytes() == 48);
    STATIC_REQUIRE(tensor_type{dtype::int16, {}}.bytes() == 2);
    STATIC_REQUIRE(tensor_type{dtype::float32, {5, 0}}.bytes() == 0);
}

TEST_CASE("dims: what is known of a shape") {
    STATIC_REQUIRE(dims{}.complete());
    STATIC_REQUIRE(dims{}.size() == 1);
    STATIC_REQUIRE(dims{2, 3, 4}.size() == 24);
    STATIC_REQUIRE(dims{2, 0, 4}.size() == 0);
    STATIC_REQUIRE_FALSE(dims{2, dyn}.complete());
    STATIC_REQUIRE(dims{dyn, 2, dyn}.dynamic_extents() == 2);
    STATIC_REQUIRE_FALSE(dims::unknown().known_rank());
    STATIC_REQUIRE_FALSE(dims::unknown().complete());
    STATIC_REQUIRE(dims{2, 3} == dims{2, 3});
    STATIC_REQUIRE_FALSE(dims{2} == dims{2, 0}); // extents beyond the rank are 0, the rank still counts
    STATIC_REQUIRE_FALSE(dims{} == dims::unknown());
    STATIC_REQUIRE(dims{1, 1, 1, 1, 1, 1, 1, 7}[7] == 7);
}

TEST_CASE("dims: how messages show shapes and types") {
    CHECK(to_string(dims{}) == "[]");
    CHECK(to_string(dims{2, dyn, 3}) == "[2, ?, 3]");
    CHECK(to_string(dims::unknown()) == "unknown rank");
    CHECK(to_string(tensor_type{dtype::float32, dims{dyn}}) == "float32 [?]");
}

TEST_CASE("extents: the shape as a type") {
    STATIC_REQUIRE(extents<2, dyn>::value == dims{2, dyn});
    STATIC_REQUIRE(extents<>::rank == 0);
    STATIC_REQUIRE(std::is_same_v<extents_of_rule<test_dims::rule>, extents<2, dyn, 0>>);
    STATIC_REQUIRE(std::is_same_v<extents_of_rule<test_dims::scalar_rule>, extents<>>);
}

TEST_CASE("dims: more extents than 8 are refused, and the eighth is not") {
    CHECK(dims{1, 2, 3, 4, 5, 6, 7, 8}.rank == 8);
    CHECK_THROWS_AS((dims{2, 2, 2, 2, 2, 2, 2, 2, 2}), invalid_argument);
    dims d{1, 2, 3, 4, 5, 6, 7, 8};
    CHECK_THROWS_WITH(d.push(9), contains("at most 8"));
    CHECK(d == dims{1, 2, 3, 4, 5, 6, 7, 8});
}
