// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/reverse.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_reverse {

using slice_test::index;
using slice_test::picked;

template <class X> X turned(const X& x) {
    const std::size_t rows = x.shape(0), columns = x.shape(1);
    return picked(x, {rows, columns}, [=](const index& i) { return index{rows - 1 - i[0], columns - 1 - i[1]}; });
}

TEST_CASE("reverse: values and gradient, to second order") {
    const auto reference = [](const auto& x) { return turned(x); };
    op_test::node<double, 2>([](const auto& x) { return reverse<0, -1>(x); }, reference, {{3, 4}});
    op_test::node<int, 2>([](const auto& x) { return reverse<0, -1>(x); }, reference, {{3, 0}});
    op_test::node<double, 2>([](const auto& x) { return reverse<0, -1>(x) * x; },
                             [](const auto& x) { return xt::xarray<double>(turned(x) * x); }, {{2, 3}});
    op_test::node<float, 2>(
        [](const auto& x) { return reverse<1>(x); },
        [](const auto& x) { return picked(x, {2, 3}, [](const index& i) { return index{i[0], 2 - i[1]}; }); },
        {{2, 3}});
    static_assert(std::is_same_v<decltype(reverse<1>(std::declval<tensor<float, 2, dyn>>())), tensor<float, 2, dyn>>);
}

TEST_CASE("reverse: axes and types that are known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float32);
    const auto at = op_test::make_array<float>({2, 2}, {1, 2, 3, 4});
    CHECK(op_test::difference<float>(op_test::run(s, reverse(x, {1}), {x}, {at}), {2, 2}, {2, 1, 4, 3}) == "");
    CHECK_THROWS_WITH(reverse(tensor(constant({1, 2})), {1}),
                      contains("reverse: an axis is out of range") && contains("[2]"));
}

TEST_CASE("reverse: made by name, its fields read back") {
    const op_ptr made = make_op(reverse_op{{0, 2}});
    CHECK(make_op("ReverseV2", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("ReverseV2")->equals(*made)); // of no axes
}

} // namespace test_ops_array_reverse
