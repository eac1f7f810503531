// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/unstack.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_unstack {

using slice_test::index;
using slice_test::picked;

template <class X, int Axis> using slices = decltype(unstack<Axis>(std::declval<const X&>()));
static_assert(std::is_same_v<slices<tensor<float, 2, dyn>, 0>, std::tuple<tensor<float, dyn>, tensor<float, dyn>>>);
static_assert(std::is_same_v<slices<tensor<int, 1>, -1>, std::tuple<tensor<int>>>);
static_assert(slices_are_counted<extents<2, dyn>, 0> && !slices_are_counted<extents<2, dyn>, 1> &&
              !slices_are_counted<extents<0>, 0>);

TEST_CASE("unstack: slices and their gradients") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, 3, 2> x("x");
    const auto [a, b] = unstack<1>(x * x);
    const auto at = op_test::make_array<double>({3, 2}, {0, 1, 2, 3, 4, 5});
    CHECK(op_test::difference<double>(op_test::run(s, b, {x}, {at}), {3}, {1, 9, 25}) == "");
    op_test::gradient_check{s, {x}, {at}}.check(tensor(a * b), 2);
}

TEST_CASE("unstack: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor c = constant({{1, 2}, {3, 4}});
    const auto rows = unstack(any_tensor(c), 0);
    REQUIRE(rows.size() == 2);
    CHECK(op_test::difference<int>(s.run(rows[1]), {2}, {3, 4}) == "");
    CHECK_THROWS_WITH(unstack(any_placeholder("x", dtype::float32, {dyn}), 0),
                      contains("unstack: the extent along axis 0 of [?] must be known"));
    CHECK_THROWS_WITH(unstack(any_tensor(c), 2), contains("unstack: the axis 2 is out of range of [2, 2]"));
}

} // namespace test_ops_array_unstack
