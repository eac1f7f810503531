// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/linalg/outer.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_linalg_outer {

static_assert(are_vectors<extents<2>, extents<dyn>> && !are_vectors<extents<2>, extents<2, 1>>);

TEST_CASE("outer: values and gradients, to second order") {
    op_test::node<double, 1, 1>([](const auto& a, const auto& b) { return outer(a, b); },
                                [](const auto& a, const auto& b) {
                                    xt::xarray<double> y(std::vector<std::size_t>{a.size(), b.size()});
                                    for (std::size_t i = 0; i < a.size(); ++i)
                                        for (std::size_t j = 0; j < b.size(); ++j) y(i, j) = a(i) * b(j);
                                    return y;
                                },
                                {{2}, {3}});
}

} // namespace test_ops_linalg_outer
