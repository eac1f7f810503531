// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/compiled_expressions.hpp>

#include "catch.hpp"

using namespace rill;

namespace rill::test_compiled_expressions { // as ops of the library
struct held_op {
    static constexpr auto name = "TestHeld";
    using domain_type = domains::numeric;
    using compiled_types = types::common;
};
struct user_op {
    static constexpr auto name = "TestUser";
};
struct truth_op {
    static constexpr auto name = "TestTruth";
    using domain_type = domains::numeric;
    using compiled_types = types::common;
    using result_type = bool;
};
} // namespace rill::test_compiled_expressions

TEST_CASE("compiled_expressions: instructions of ops that say so, in the types they say") {
    using namespace rill::test_compiled_expressions;
    STATIC_REQUIRE(detail::is_compiled_primitive<held_op, float, float>);
    STATIC_REQUIRE(detail::is_compiled_primitive<held_op, std::int64_t>);
    STATIC_REQUIRE_FALSE(detail::is_compiled_primitive<held_op, half>);
    STATIC_REQUIRE_FALSE(detail::is_compiled_primitive<held_op, bool>); // outside its domain
    STATIC_REQUIRE_FALSE(detail::is_compiled_primitive<user_op, float>);
    STATIC_REQUIRE(detail::is_compiled_primitive<held_op, bool, float, float>); // a condition and two branches
    STATIC_REQUIRE_FALSE(detail::is_compiled_primitive<held_op, bool, half, half>);
}

TEST_CASE("compiled_expressions: one op over tensors and at most one number, of float and double") {
    using namespace rill::test_compiled_expressions;
    using f = leaf<float>;
    using number = scalar_leaf<float>;
    STATIC_REQUIRE(detail::is_compiled_expression<f>);
    STATIC_REQUIRE(detail::is_compiled_expression<leaf<bool>>);
    STATIC_REQUIRE_FALSE(detail::is_compiled_expression<leaf<half>>);
    STATIC_REQUIRE(detail::is_compiled_expression<structure<held_op, float, f>>);
    STATIC_REQUIRE(detail::is_compiled_expression<structure<held_op, float, f, f>>);
    STATIC_REQUIRE(detail::is_compiled_expression<structure<held_op, float, number, f>>);
    STATIC_REQUIRE(detail::is_compiled_expression<structure<held_op, float, f, number>>);
    STATIC_REQUIRE_FALSE(detail::is_compiled_expression<structure<held_op, float, number, number>>);
    STATIC_REQUIRE_FALSE(detail::is_compiled_expression<structure<held_op, int, leaf<int>, leaf<int>>>);
    STATIC_REQUIRE_FALSE(detail::is_compiled_expression<structure<truth_op, bool, f, f>>);
    STATIC_REQUIRE_FALSE(detail::is_compiled_expression<structure<user_op, float, f>>);
    STATIC_REQUIRE_FALSE(detail::is_compiled_expression<structure<held_op, float, structure<held_op, float, f>>>);
}

TEST_CASE("compiled_expressions: the loops of reductions") {
    STATIC_REQUIRE(detail::is_compiled_combiner<float>);
    STATIC_REQUIRE(detail::is_compiled_combiner<bool>);
    STATIC_REQUIRE_FALSE(detail::is_compiled_combiner<half>);
}
