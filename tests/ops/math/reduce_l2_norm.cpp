// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_l2_norm.hpp>

#include <cmath>
#include <limits>

#include <rill/ops/math/gradients.hpp>

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

TEST_CASE("reduce_l2_norm: where squares are infinite or too small, and at 0") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const float inf = std::numeric_limits<float>::infinity();
    const auto check = [&](const auto& x, const auto& norm, const auto& untyped) {
        const auto [d] = gradients(norm, x);
        const auto of = [&](const std::vector<float>& v) {
            const auto found = s.run(norm, feed(x, v));
            const float again = s.run(untyped, feed(x, v)).template value<float>();
            CHECK((again == found || (std::isnan(again) && std::isnan(found))));
            return found;
        };
        const auto slopes = [&](const std::vector<float>& v) { return op_test::list(s.run(d, feed(x, v))); };
        CHECK(of({1e20f, 1, 1}) == Approx(1e20));
        CHECK(of({3e30f, -4e30f, 0}) == Approx(5e30));
        CHECK(of({3e-30f, 4e-30f, 0}) == Approx(5e-30));
        CHECK(of({3, 4, 0}) == 5);
        CHECK(of({0, 0, 0}) == 0);
        CHECK(of({1, inf, 2}) == inf);
        CHECK(std::isnan(of({1, std::nanf(""), 2})));
        CHECK(slopes({3e30f, -4e30f, 0})[1] == Approx(-0.8));
        CHECK(slopes({3e-30f, 4e-30f, 0})[0] == Approx(0.6));
        CHECK(slopes({0, 0, 0}) == std::vector<float>{0, 0, 0});
    };
    placeholder<float, dyn> x("x");
    check(x, sealed(reduce_l2_norm(x)), reduce_l2_norm(any_tensor(x)));
    check(x, sealed(reduce_l2_norm(x * 0.5f + x * 0.5f)), reduce_l2_norm(any_tensor(x), {0}));
    placeholder<double, dyn> wide("wide");
    CHECK(s.run(reduce_l2_norm(wide), feed(wide, std::vector<double>{3e200, 4e200})) == Approx(5e200));
    CHECK(s.run(reduce_l2_norm(wide), feed(wide, std::vector<double>{3e-200, 4e-200})) == Approx(5e-200));
}

TEST_CASE("reduce_l2_norm: each row by itself, and narrow types added up in float") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 2> x("x");
    const xt::xtensor<float, 2> at{{3, 4}, {3e25f, 4e25f}, {0, 0}, {3e-25f, 4e-25f}, {6, 8}};
    const auto rows = s.run(reduce_l2_norm<1>(x), feed(x, at));
    const auto kept = s.run(reduce_l2_norm<1>(x, keep_dims), feed(x, at));
    const std::vector<double> wanted{5, 5e25, 0, 5e-25, 10};
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(rows(i) == Approx(wanted[i]));
        CHECK(kept(i, 0) == rows(i));
    }
    CHECK(s.run(reduce_l2_norm<0>(x), feed(x, at))(1) == Approx(4e25));
    const auto [d] = gradients(reduce_l2_norm<1>(x), x);
    const auto slopes = s.run(d, feed(x, at));
    for (const std::size_t i : {0, 1, 3}) CHECK(slopes(i, 1) == Approx(0.8));
    CHECK(slopes(2, 1) == 0);

    placeholder<half, dyn> h("h");
    const std::vector<half> three(3, half(200));
    const half norm = s.run(reduce_l2_norm(h), feed(h, three));
    CHECK(static_cast<float>(norm) == 346.5f); // the nearest half to 346.41
    const any_array untyped = s.run(reduce_l2_norm(any_tensor(h)), feed(h, three));
    CHECK(static_cast<float>(untyped.value<half>()) == 346.5f);
    const auto [dh] = gradients(reduce_l2_norm(h), h);
    CHECK(static_cast<float>(s.run(dh, feed(h, three))(0)) == Approx(0.5774).epsilon(1e-3));
}
