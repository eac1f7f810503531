// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/primitives/primitives.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("flow: primitives are known by name, and say which they are") {
    CHECK(find_op("Switch"));
    CHECK(find_op("NextIteration"));
    CHECK(make_op(switch_op{})->flow().what == control_flow_kind::form::switches);
    const auto op = make_op(enter_op{{}, "loop", true, 3});
    const auto enters = op->flow();
    CHECK(*enters.frame == "loop");
    CHECK(enters.constant);
    CHECK(enters.parallel_iterations == 3);
    CHECK_FALSE(make_op(identity_op{})->flow());
}

TEST_CASE("flow: a predicate is a bool of rank 0, or may be one") {
    detail::check_predicate({dtype::boolean, {}}, "it");
    detail::check_predicate({dtype::boolean, dims::unknown()}, "it");
    CHECK_THROWS_WITH(detail::check_predicate({dtype::boolean, {2}}, "it"), contains("it must be a bool of rank 0"));
    CHECK_THROWS_AS(detail::check_predicate({dtype::int32, {}}, "it"), invalid_argument);
}
