// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/scalar_mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_math_scalar_mul {

TEST_CASE("scalar_mul: by a number, and by a tensor of rank 0 with gradients to both") {
    const auto times = [](const auto& x, const auto& n) {
        const double number = n();
        return xt::xarray<double>(x * number);
    };
    op_test::node<double, 2, 0>([](const auto& x, const auto& n) { return sealed(scalar_mul(n, x)); }, times,
                                {{2, 3}, {}}, {.order = 2});
    op_test::node<double, 1>([](const auto& x) { return sealed(scalar_mul(2.5, x)); },
                             [](const auto& x) { return xt::xarray<double>(2.5 * x); }, {{4}});
    static_assert(
        std::is_same_v<extents_of<decltype(scalar_mul(2, std::declval<tensor<int, dyn, 3>>()))>, extents<dyn, 3>>);
}

} // namespace test_ops_math_scalar_mul
