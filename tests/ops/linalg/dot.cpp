// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/linalg/dot.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_linalg_dot {

static_assert(
    std::is_same_v<decltype(dot(std::declval<tensor<float, 3>>(), std::declval<tensor<float, dyn>>())), tensor<float>>);
static_assert(!are_vectors_of_one_size<extents<3>, extents<4>> && !are_vectors_of_one_size<extents<3, 1>, extents<3>>);

TEST_CASE("dot: values and gradients, to second order") {
    const auto reference = [](const auto& a, const auto& b) {
        typename std::decay_t<decltype(a)>::value_type sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a(i) * b(i);
        return xt::xarray<decltype(sum)>(std::vector<std::size_t>{}, sum);
    };
    op_test::node<double, 1, 1>([](const auto& a, const auto& b) { return dot(a, b); }, reference, {{5}, {5}});
    op_test::node<int, 1, 1>([](const auto& a, const auto& b) { return dot(a, b); }, reference, {{0}, {0}});
}

TEST_CASE("dot: of types known at run time only, refusals name it") {
    const graph g;
    const graph_scope here(g);
    const any_tensor a = tensor(constant({1.f, 2.f})), longer = tensor(constant({1.f, 2.f, 3.f})),
                     whole = tensor(constant({1, 2}));
    CHECK_THROWS_WITH(dot(a, longer), contains("dot: the sizes differ: float32 [2] and float32 [3]"));
    CHECK_THROWS_WITH(dot(a, whole), contains("dot: the dtypes differ: float32 [2] and int32 [2]"));
}

} // namespace test_ops_linalg_dot
