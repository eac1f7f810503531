// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/hyperparameter.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("hyperparameter: its own node, or converted, from tensors, expressions, constants and untyped tensors") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float> x("x");
    const hyperparameter own(x), product(x * 2.f), fixed(constant(3)), loose{any_placeholder("y", dtype::int64, {})};
    CHECK(own.as(dtype::float32).from == x.node());
    CHECK(s.run(any_tensor(own.as(dtype::float64)), feed(any_tensor(x), 0.5f)).value<double>() == 0.5);
    CHECK(s.run(any_tensor(product.as(dtype::float32)), feed(any_tensor(x), 0.5f)).value<float>() == 1.f);
    CHECK(s.run(any_tensor(fixed.as(dtype::float64))).value<double>() == 3);
    CHECK(s.run(any_tensor(loose.as(dtype::float32)), feed("y:0", std::int64_t(7))).value<float>() == 7.f);
    CHECK(own);
    CHECK_FALSE(hyperparameter());
    CHECK_THROWS_WITH(own.as(dtype::half), contains("'x:0'") && contains("half"));
}
