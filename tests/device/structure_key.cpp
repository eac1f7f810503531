// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/structure_key.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/tanh.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("structure_key: spells the expression out, extents don't matter") {
    using product = structure<mul_op, float, leaf<float>, scalar_leaf<float>>;
    using sum = structure<add_op, float, product, structure<tanh_op, float, leaf<float>>>;
    CHECK(key_of<sum>() == "Add(Mul($0:float32,s0:float32),Tanh($1:float32))");
    CHECK(&key_of<sum>() == &key_of<sum>());
    CHECK(key_of<structure<greater_op, bool, leaf<int>, leaf<int>>>() == "Greater($0:int32,$1:int32):bool");
}
