// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("catalogue: names are TensorFlow's and differ") {
    const std::vector<std::string> names{add_op::name,      matmul_op::name,   transpose_op::name, placeholder_op::name,
                                         constant_op::name, variable_op::name, assign_op::name,    no_op::name,
                                         tanh_op::name,     select_op::name};
    CHECK(names == std::vector<std::string>{"Add", "MatMul", "Transpose", "Placeholder", "Const", "VariableV2",
                                            "Assign", "NoOp", "Tanh", "Select"});
}
