// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/shape_input.hpp>

#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/stack.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_shape_input {

static_assert(is_shape_tensor<extents<3>, int> && is_shape_tensor<extents<dyn>, std::int64_t>);
static_assert(!is_shape_tensor<extents<9>, int> && !is_shape_tensor<extents<>, int> &&
              !is_shape_tensor<extents<3>, float>);

TEST_CASE("shape_input: reshape and fill by tensors, known when shapes are bound") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    placeholder<float, dyn, dyn> y("y");
    const auto z = reshape(x, shape(y));
    static_assert(std::is_same_v<decltype(z), const tensor<float, dyn, dyn>>);
    for (const std::size_t rows : {std::size_t(2), std::size_t(3), std::size_t(6)}) {
        const xt::xtensor<float, 2> like({rows, 6 / rows}, 0.f);
        const std::vector<float> six{1, 2, 3, 4, 5, 6};
        CHECK(s.run(z, feed(x, six), feed(y, like)).shape(0) == rows);
        const auto ones = s.run(fill(shape(y), 7.f), feed(y, like));
        CHECK(ones.shape(1) == 6 / rows);
        CHECK(ones(0, 0) == 7.f);
        const auto [dx] = gradients(z * z, x);
        CHECK(op_test::list(s.run(dx, feed(x, six), feed(y, like))) == std::vector<float>{2, 4, 6, 8, 10, 12});
    }
    CHECK_THROWS_WITH(s.run(z, feed(x, std::vector<float>{1}), feed(y, xt::xtensor<float, 2>({2, 2}))),
                      contains("reshape: the sizes differ (asked for [2, 2])"));
    CHECK(s.run(reshape(x, constant({dyn, index_t(2)})), feed(x, std::vector<float>{1, 2, 3, 4})).shape(0) == 2);
}

TEST_CASE("shape_input: shapes put together, on any device") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const auto halves = reshape(x * 2.f, stack<0>(size(x) / 2, constant(2)));
    const auto both = s.run(std::tuple(halves, size(x) / 2), feed(x, std::vector<float>{1, 2, 3, 4, 5, 6}));
    CHECK(std::get<0>(both)(2, 1) == 12);
    CHECK(std::get<1>(both) == 3);
}

TEST_CASE("shape_input: what can't be a shape") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<int, 2> data("data");
    placeholder<float, dyn> x("x");
    CHECK_THROWS_AS(s.run(reshape(x, data), feed(x, std::vector<float>{1, 2}), feed(data, std::vector<int>{1, 2})),
                    unimplemented); // known only when the data are
    CHECK_THROWS_WITH(reshape(any_tensor(x), any_tensor(x)), contains("reshape: the shape must be int32 or int64"));
    CHECK_THROWS_WITH(reshape(any_tensor(x), any_placeholder("m", dtype::int32, {2, 2})), contains("of rank 1"));
    CHECK_THROWS_WITH(reshape(any_tensor(x), any_placeholder("long", dtype::int32, {9})),
                      contains("at most 8 extents"));
    CHECK_THROWS_WITH(fill(constant({2, -2}), 1.f), contains("fill: an extent is negative"));
    CHECK_THROWS_WITH(fill(constant({2, 2}), any_tensor(x)), contains("fill: the value must be of rank 0"));
}

} // namespace test_ops_array_shape_input
