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

TEST_CASE("reduce_l2_norm: along axes known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, 2, 3> x("x");
    const xt::xtensor<double, 2> at{{1, 2, 4}, {3, 5, -8}};
    const auto typed = s.run(reduce_l2_norm<1>(x), feed(x, at));
    const auto kept = s.run(reduce_l2_norm(any_tensor(x), {-1}, keep_dims), feed(x, at));
    CHECK(kept.type().shape == dims{2, 1});
    const auto plain = s.run(reduce_l2_norm(x, {1}), feed(x, at));
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(kept.elements<double>()[i] == Approx(typed(i)));
        CHECK(plain(i) == Approx(typed(i)));
    }
    CHECK(s.run(reduce_l2_norm(any_tensor(x), {0, 1}), feed(x, at)).elements<double>()[0] ==
          Approx(s.run(reduce_l2_norm(x), feed(x, at))));
    CHECK_THROWS_WITH(reduce_l2_norm(any_tensor(x), {2}), contains("axis"));
}
