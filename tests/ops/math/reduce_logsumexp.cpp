// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_logsumexp.hpp>

#include "ops/reduction.hpp"

using namespace rill;

namespace test_reduce_logsumexp {
struct op {
    template <int... Axes> static auto run(const auto& x, auto... keep) {
        return sealed(reduce_logsumexp<Axes...>(x, keep...));
    }
    template <class T> static T of(const std::vector<T>& v) {
        long double sum = 0;
        for (const T x : v) sum += std::exp(static_cast<long double>(x));
        return static_cast<T>(std::log(sum));
    }
};
} // namespace test_reduce_logsumexp

TEST_CASE("reduce_logsumexp: values") {
    static_assert(op_test::reduced_types_are_right<test_reduce_logsumexp::op>());
    op_test::reduction_values<test_reduce_logsumexp::op, float>({0.5, 2}, 64);
    op_test::reduction_values<test_reduce_logsumexp::op, double>({0.5, 2}, 64);
}
TEST_CASE("reduce_logsumexp: gradient") {
    op_test::reduction_gradients<test_reduce_logsumexp::op>({.in = {{-2, 2}}, .order = 2});
}
TEST_CASE("reduce_logsumexp: large, infinite and no numbers") {
    const session s;
    placeholder<double, dyn> x("x");
    const auto of = [&](const std::vector<double>& v) { return s.run(reduce_logsumexp(x), feed(x, v)); };
    constexpr double inf = std::numeric_limits<double>::infinity();
    CHECK(of({1000, 1000}) == Approx(1000 + std::log(2)));
    CHECK(of({-1000, -1000}) == Approx(-1000 + std::log(2)));
    CHECK(of({inf, 1}) == inf);
    CHECK(of({-inf, -inf}) == -inf);
    CHECK(of({-inf, 1}) == 1);
    CHECK(std::isnan(of({std::nan(""), 1})));
    const auto [d] = gradients(reduce_logsumexp(x), x);
    const auto [d2] = gradients(d * d, x);
    const auto slopes = [&](const auto& y, const std::vector<double>& v) {
        return op_test::list(s.run(y, feed(x, v)));
    };
    CHECK(slopes(d, {-inf, -inf}) == std::vector<double>{0.5, 0.5});
    CHECK(slopes(d, {inf, 1}) == std::vector<double>{1, 0});
    CHECK(slopes(d, {1, inf, inf}) == std::vector<double>{0, 0.5, 0.5});
    CHECK(slopes(d, {-inf, 3}) == std::vector<double>{0, 1});
    for (const double v : slopes(d2, {-inf, -inf})) CHECK(v == 0);
    for (const double v : slopes(d2, {inf, 1})) CHECK(v == 0);
    CHECK(s.run(reduce_logsumexp(any_tensor(x)), feed(x, std::vector<double>{0, 0})).elements<double>()[0] ==
          Approx(std::log(2)));
}

TEST_CASE("reduce_logsumexp: along axes known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, 2, 3> x("x");
    const xt::xtensor<double, 2> at{{1, 2, 4}, {3, 5, -8}};
    const auto typed = s.run(reduce_logsumexp<1>(x), feed(x, at));
    const auto kept = s.run(reduce_logsumexp(any_tensor(x), {-1}, keep_dims), feed(x, at));
    CHECK(kept.type().shape == dims{2, 1});
    const auto plain = s.run(reduce_logsumexp(x, {1}), feed(x, at));
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(kept.elements<double>()[i] == Approx(typed(i)));
        CHECK(plain(i) == Approx(typed(i)));
    }
    CHECK(s.run(reduce_logsumexp(any_tensor(x), {0, 1}), feed(x, at)).elements<double>()[0] ==
          Approx(s.run(reduce_logsumexp(x), feed(x, at))));
    CHECK_THROWS_WITH(reduce_logsumexp(any_tensor(x), {2}), contains("axis"));
}
