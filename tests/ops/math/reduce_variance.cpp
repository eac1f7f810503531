// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_variance.hpp>

#include "ops/reduction.hpp"

using namespace rill;

namespace test_reduce_variance {
struct op {
    template <int... Axes> static auto run(const auto& x, auto... keep) { return reduce_variance<Axes...>(x, keep...); }
    template <class T> static T of(const std::vector<T>& v) {
        long double sum = 0, squares = 0;
        const auto n = static_cast<long double>(v.size());
        for (const T x : v) sum += x;
        for (const T x : v) squares += (x - sum / n) * (x - sum / n);
        return static_cast<T>(squares / n);
    }
};
} // namespace test_reduce_variance

TEST_CASE("reduce_variance: values") {
    static_assert(op_test::reduced_types_are_right<test_reduce_variance::op>());
    op_test::reduction_values<test_reduce_variance::op, double>({0.5, 2}, 4096);
}
TEST_CASE("reduce_variance: gradient") {
    op_test::reduction_gradients<test_reduce_variance::op>({.in = {{-2, 2}}, .order = 2});
}
TEST_CASE("reduce_variance: nothing cancels, and nothing has none") {
    const session s;
    placeholder<float, dyn> x("x");
    CHECK(s.run(reduce_variance(x), feed(x, std::vector<float>{4096.25f, 4096.75f})) == Approx(0.0625));
    CHECK(std::isnan(s.run(reduce_variance(x), feed(x, std::vector<float>{}))));
}
TEST_CASE("reduce_variance: of floating elements only") {
    const graph g;
    const graph_scope here(g);
    CHECK_THROWS_WITH(reduce_variance(any_tensor(tensor(constant({1, 2})))),
                      contains("reduce_variance: the elements of") && contains("int32"));
}

TEST_CASE("reduce_variance: along axes known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, 2, 3> x("x");
    const xt::xtensor<double, 2> at{{1, 2, 4}, {3, 5, -8}};
    const auto typed = s.run(reduce_variance<1>(x), feed(x, at));
    const auto kept = s.run(reduce_variance(any_tensor(x), {-1}, keep_dims), feed(x, at));
    CHECK(kept.type().shape == dims{2, 1});
    const auto plain = s.run(reduce_variance(x, {1}), feed(x, at));
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(kept.elements<double>()[i] == Approx(typed(i)));
        CHECK(plain(i) == Approx(typed(i)));
    }
    CHECK(s.run(reduce_variance(any_tensor(x), {0, 1}), feed(x, at)).elements<double>()[0] ==
          Approx(s.run(reduce_variance(x), feed(x, at))));
    CHECK_THROWS_WITH(reduce_variance(any_tensor(x), {2}), contains("axis"));
}
