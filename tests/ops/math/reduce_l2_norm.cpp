// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_l2_norm.hpp>

#include "ops/reduction.hpp"

using namespace rill;

namespace test_reduce_l2_norm {
struct op {
    template <int... Axes> static auto run(const auto& x, auto... keep) {
        return sealed(reduce_l2_norm<Axes...>(x, keep...));
    }
    template <class T> static T of(const std::vector<T>& v) {
        long double sum = 0;
        for (const T x : v) sum += static_cast<long double>(x) * x;
        return static_cast<T>(std::sqrt(sum));
    }
};
} // namespace test_reduce_l2_norm

TEST_CASE("reduce_l2_norm: values") {
    static_assert(op_test::reduced_types_are_right<test_reduce_l2_norm::op>());
    op_test::reduction_values<test_reduce_l2_norm::op, float>({0.5, 2}, 64);
    op_test::reduction_values<test_reduce_l2_norm::op, double>({0.5, 2}, 64);
}
TEST_CASE("reduce_l2_norm: gradient") {
    op_test::reduction_gradients<test_reduce_l2_norm::op>({.in = {{0.5, 2}}, .order = 2});
}
