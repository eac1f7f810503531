// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/shape_input.hpp>

#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/range.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/stack.hpp>
#include <rill/ops/array/where.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/control/function.hpp>
#include <rill/ops/control/while_loop.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/random/random_normal.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/state/variable.hpp>

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

TEST_CASE("shape_input: shapes that data decides") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<int> batch("batch");
    placeholder<float, dyn> x("x");
    const auto state = fill(stack<0>(batch, constant(2)), 0.5f);
    static_assert(std::is_same_v<decltype(state), const tensor<float, dyn, dyn>>);
    const auto step = s.make_callable(std::tuple(state + 1.f, reduce_sum(state)), batch);
    for (const int n : {3, 1, 3, 0}) {
        const auto [all, sum] = step(n);
        CHECK(all.shape(0) == static_cast<std::size_t>(n));
        CHECK(sum == static_cast<float>(n));
        CHECK((n == 0 || all(n - 1, 1) == 1.5f));
    }
    // of a value that is computed, of a variable, and of numbers that a run draws
    const std::vector<float> six{1, 2, 3, 4, 5, 6};
    CHECK(s.run(reshape(x, stack<0>(cast<int>(reduce_max(x)) / 2, constant(-1))), feed(x, six)).shape(0) == 3);
    const variable<int> v("v", 2);
    s.run(global_variables_initializer());
    CHECK(s.run(reshape(x, stack<0>(v, constant(-1))), feed(x, six)).shape(0) == 2);
    CHECK(s.run(fill(stack<0>(random_uniform<int>({.minval = 4, .maxval = 5})), 1.f)).size() == 4);
    // the gradient goes through, and what follows may need the shape again
    const auto y = reshape(x, stack<0>(batch, constant(-1)));
    const auto [dx] = gradients(reduce_sum(y * y * fill(shape(y), 3.f)), x);
    CHECK(op_test::list(s.run(dx, feed(x, six), feed(batch, 2))) == std::vector<float>{6, 12, 18, 24, 30, 36});
    // of as many extents as a run says
    placeholder<std::int64_t, dyn> any_rank("any_rank");
    const any_tensor open = reshape(x, any_rank);
    CHECK(s.run(open, feed(x, six), feed(any_rank, {3, 2, 1})).shape() == dims{3, 2, 1});
    CHECK(s.run(fill(any_rank, 1.f), feed(any_rank, std::vector<std::int64_t>{})).shape() == dims{});
    CHECK(s.run(random_normal<float>(any_rank), feed(any_rank, {2, 5})).shape() == dims{2, 5});
    // beside what other data decides
    const auto some = boolean_mask(x, x > 2.f);
    CHECK(s.run(fill(stack<0>(size(some), constant(2)), 1.f), feed(x, six)).shape(0) == 4);
    CHECK(s.run(rill::range(0, size(some) + size(x)), feed(x, six)).size() == 10);
    // edges that are fed in the middle
    const tensor twice(shape(x) * 2, "twice");
    CHECK(s.run(fill(twice, 1.f), feed(x, six)).size() == 12);
    CHECK(s.run(fill(twice, 1.f), feed(twice, {3})).size() == 3);
    const tensor pair(constant({2, 2}), "pair");
    CHECK(s.run(fill(pair, 1.f), feed(pair, {3, 1})).size() == 3);
    // known to another plan: an edge before it is fed
    const tensor doubled(batch * 2, "doubled");
    const auto wide = fill(stack<0>(doubled), 1.f);
    CHECK(s.run(wide, feed(doubled, 5)).size() == 5);
    CHECK(s.run(wide, feed(batch, 4)).size() == 8);
}

TEST_CASE("shape_input: shapes that data decides, in bodies and functions") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<int> n("n");
    const auto either = cond(
        n > 2, [&] { return reduce_sum(fill(stack<0>(n, n), 1.f)); },
        [&] { return reduce_sum(cast<float>(rill::range(n))); });
    CHECK(s.run(either, feed(n, 3)) == 9);
    CHECK(s.run(either, feed(n, 2)) == 1);
    const auto [i, sum] =
        while_loop([&](auto k, auto) { return k < n; },
                   [](auto k, auto t) { return std::tuple(k + 1, t + reduce_sum(fill(stack<0>(k), 2.f))); }, 0, 0.f);
    CHECK(s.run(sum, feed(n, 4)) == 12); // 2 * (0 + 1 + 2 + 3)
    placeholder<float, dyn> x("x");      // worked out outside, used within
    const tensor outside(shape(x) + 1, "outside");
    const tensor fixed(constant({2, 3}) * 2, "fixed");
    const auto chosen =
        cond(n > 0, [&] { return reduce_sum(fill(outside, 1.f)); }, [&] { return reduce_sum(fill(fixed, 1.f)); });
    CHECK(s.run(chosen, feed(n, 1), feed(x, std::vector<float>(4))) == 5);
    CHECK(s.run(chosen, feed(n, 0), feed(x, std::vector<float>(4))) == 24);
    const auto ones = function([](auto k) { return reduce_sum(fill(stack<0>(k, k), 1.f)); });
    CHECK(s.run(ones(n) + ones(n + 1), feed(n, 2)) == 13);
}

TEST_CASE("shape_input: what can't be a shape") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    placeholder<std::int64_t, 2> data("data");
    const auto shaped = reshape(x, data);
    const auto two = feed(x, std::vector<float>{1, 2});
    CHECK_THROWS_WITH(s.run(shaped, two, feed(data, {1, 3})),
                      contains("reshape: the sizes differ (asked for [1, 3])") && contains("shape_input.cpp"));
    CHECK_THROWS_WITH(s.run(fill(data, 1.f), feed(data, {1, -3})), contains("fill: an extent is negative"));
    CHECK_THROWS_AS(s.run(fill(data, 1.f), feed(data, {index_t(1) << 40, index_t(1) << 40})), resource_exhausted);
    CHECK(s.run(shaped, two, feed(data, {2, 1}))(1, 0) == 2); // nothing is left of them
    CHECK_THROWS_WITH(reshape(any_tensor(x), any_tensor(x)), contains("reshape: the shape must be int32 or int64"));
    CHECK_THROWS_WITH(reshape(any_tensor(x), any_placeholder("m", dtype::int32, {2, 2})), contains("of rank 1"));
    CHECK_THROWS_WITH(reshape(any_tensor(x), any_placeholder("long", dtype::int32, {9})),
                      contains("at most 8 extents"));
    CHECK_THROWS_WITH(fill(constant({2, -2}), 1.f), contains("fill: an extent is negative"));
    CHECK_THROWS_WITH(fill(constant({2, 2}), any_tensor(x)), contains("fill: the value must be of rank 0"));
}

} // namespace test_ops_array_shape_input
