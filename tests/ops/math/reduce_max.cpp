// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_max.hpp>

#include <rill/ops/math/neg.hpp>

#include "ops/math/extremum_test.hpp"

using namespace rill;

namespace test_reduce_max {
struct op {
    template <int... Axes> static auto run(const auto& x, auto... keep) { return reduce_max<Axes...>(x, keep...); }
    template <class T> static T of(const std::vector<T>& v) {
        using limits = std::numeric_limits<T>;
        if (v.empty()) return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
        for (const T x : v)
            if (std::isnan(static_cast<double>(x))) return x;
        return *std::max_element(v.begin(), v.end());
    }
};
} // namespace test_reduce_max

TEST_CASE("reduce_max: values") {
    static_assert(op_test::reduced_types_are_right<test_reduce_max::op>());
    op_test::reduction_values<test_reduce_max::op, float>({-4, 4}, 0);
    op_test::reduction_values<test_reduce_max::op, double>({-4, 4}, 0);
    op_test::reduction_values<test_reduce_max::op, int>({}, 0);
    op_test::reduction_values<test_reduce_max::op, std::uint8_t>({}, 0);
}
TEST_CASE("reduce_max: gradient") { op_test::reduction_gradients<test_reduce_max::op>({.in = {{-2, 2}}, .order = 2}); }
TEST_CASE("reduce_max: refusals") { op_test::reduction_refusals<test_reduce_max::op>("reduce_max"); }

TEST_CASE("reduce_max: NaN anywhere is the result") {
    placeholder<float, dyn> x("x");
    const session s;
    for (const std::size_t size : {std::size_t(1), std::size_t(40), std::size_t(3000)})
        for (const std::size_t at : {std::size_t(0), size / 2, size - 1}) {
            std::vector<float> v(size, 1.f);
            v[at] = std::numeric_limits<float>::quiet_NaN();
            CHECK(std::isnan(s.run(reduce_max(x), feed(x, v))));
        }
}

TEST_CASE("reduce_max: the gradient is shared by equal elements") {
    placeholder<double, dyn, 3> x("x");
    const session s;
    const std::vector<double> v{1, 5, 5, 2, 2, 2, 0, 1, 0};
    const auto [rows] = gradients(reduce_max<1>(x), x);
    const auto rows_wanted = std::vector<double>{0, 0.5, 0.5, 1. / 3, 1. / 3, 1. / 3, 0, 1, 0};
    CHECK(op_test::list(s.run(rows, feed(x, v))) == rows_wanted);
    const auto [of_expression] = gradients(3.0 * reduce_max(-x), x);
    CHECK(op_test::list(s.run(of_expression, feed(x, v))) == std::vector<double>{0, 0, 0, 0, 0, 0, -1.5, 0, -1.5});
}

TEST_CASE("reduce_max: the gradient of a group with NaN in it is NaN, that of others is not") {
    extremum_test::gradient_of_nan([](const auto& x) { return reduce_max<1>(x); }, 2);
}
