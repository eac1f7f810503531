// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/known_inputs.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_graph_known_inputs {

/// Knows the second input alone.
struct second_only final : input_values {
    any_array known{dtype::int32, dims{}};
    const any_array* value(std::size_t input) const override { return input == 1 ? &known : nullptr; }
};

TEST_CASE("known_inputs: types always, values where somebody knows them") {
    const std::vector<tensor_type> types(2, {dtype::int32, dims{}});
    const second_only values;
    const known_inputs all{types, &values}, none{types};
    CHECK(all.value(0) == nullptr);
    CHECK(all.value(1) == &values.known);
    CHECK(none.value(1) == nullptr);
}

} // namespace test_graph_known_inputs
