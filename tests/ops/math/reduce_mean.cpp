// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_mean.hpp>

#include "ops/reduction.hpp"

using namespace rill;

namespace test_reduce_mean {
struct op {
    template <int... Axes> static auto run(const auto& x, auto... keep) { return reduce_mean<Axes...>(x, keep...); }
    template <class T> static T of(const std::vector<T>& v) {
        using wide = std::conditional_t<is_integral<T>, T, long double>;
        const auto sum = std::accumulate(v.begin(), v.end(), wide(0));
        if constexpr (is_integral<T>)
            return v.empty() ? T(0) : sum / static_cast<T>(v.size());
        else
            return static_cast<T>(sum / static_cast<wide>(v.size()));
    }
};
} // namespace test_reduce_mean

TEST_CASE("reduce_mean: values") {
    static_assert(op_test::reduced_types_are_right<test_reduce_mean::op>());
    op_test::reduction_values<test_reduce_mean::op, float>({0.5, 2}, 64);
    op_test::reduction_values<test_reduce_mean::op, double>({0.5, 2}, 64);
    op_test::reduction_values<test_reduce_mean::op, int>({}, 0);
}
TEST_CASE("reduce_mean: gradient") {
    op_test::reduction_gradients<test_reduce_mean::op>({.in = {{-2, 2}}, .order = 3});
}
TEST_CASE("reduce_mean: refusals") { op_test::reduction_refusals<test_reduce_mean::op>("reduce_mean"); }

TEST_CASE("reduce_mean: the mean of equal values is exact") {
    placeholder<float, dyn> x("x");
    const session s;
    CHECK(s.run(reduce_mean(x), feed(x, std::vector<float>(3001, 0.1f))) == Approx(0.1f).epsilon(1e-6));
    CHECK(s.run(reduce_mean(x), feed(x, std::vector<float>(3, 7.f))) == 7.f);
}
