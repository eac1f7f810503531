// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/known_inputs.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("known_inputs: without values nothing is known") {
    const std::vector<tensor_type> types{{dtype::float32, {2}}};
    const known_inputs in{types};
    CHECK(in.value(0) == nullptr);
    CHECK(in.bodies.empty());
}
