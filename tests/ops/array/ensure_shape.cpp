// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/ensure_shape.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("ensure_shape: the value itself where its shape fits, in each run, with its gradient") {
    const graph_scope here{graph()};
    const placeholder<float, dyn, dyn> x("x");
    const tensor<float, 2, dyn> y = ensure_shape<2, dyn>(x);
    const any_tensor z = ensure_shape(x, dims{dyn, 3});
    CHECK(type_of(z.end()).shape == dims{dyn, 3});
    const auto [dx] = gradients(reduce_sum(y * y), x);
    const session s;
    const xt::xtensor<float, 2> fits{{1, 2, 3}, {4, 5, 6}}, other{{1, 2}};
    CHECK((s.run(y, feed(x, fits)) == fits));
    CHECK((s.run(dx, feed(x, fits)) == 2.f * fits));
    CHECK(s.run(z, feed(x, fits)).shape() == dims{2, 3});
    CHECK_THROWS_WITH(s.run(y, feed(x, other)), contains("the shape is [1, 2], not [2, ?]"));
    CHECK_THROWS_AS(s.run(z, feed(x, other)), invalid_argument);
    CHECK_THROWS_WITH(ensure_shape(constant({1.f, 2.f}), dims{3}), contains("the shape is [2], not [3]"));
    CHECK_THROWS_AS(ensure_shape(x, dims{}), invalid_argument);
}
