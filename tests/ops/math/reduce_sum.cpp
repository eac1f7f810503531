// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_sum.hpp>

#include "ops/reduction.hpp"

using namespace rill;

namespace test_reduce_sum {
struct op {
    template <int... Axes> static auto run(const auto& x, auto... keep) { return reduce_sum<Axes...>(x, keep...); }
    template <class T> static T of(const std::vector<T>& v) {
        using wide = std::conditional_t<is_integral<T>, T, long double>;
        return static_cast<T>(std::accumulate(v.begin(), v.end(), wide(0)));
    }
};
} // namespace test_reduce_sum

TEST_CASE("reduce_sum: values") {
    static_assert(op_test::reduced_types_are_right<test_reduce_sum::op>());
    op_test::reduction_values<test_reduce_sum::op, float>({0.5, 2}, 64);
    op_test::reduction_values<test_reduce_sum::op, double>({0.5, 2}, 64);
    op_test::reduction_values<test_reduce_sum::op, int>({}, 0);
}
TEST_CASE("reduce_sum: gradient") { op_test::reduction_gradients<test_reduce_sum::op>({.in = {{-2, 2}}, .order = 3}); }
TEST_CASE("reduce_sum: refusals") { op_test::reduction_refusals<test_reduce_sum::op>("reduce_sum"); }
