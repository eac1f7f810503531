// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/floordiv.hpp>

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <rill/ops/math/mod.hpp>

#include "ops/math/quotient_test.hpp"

using namespace rill;

namespace test_floordiv {
constexpr auto f = [](const auto& a, const auto& b) { return floordiv(a, b); };
/// In more digits a quotient does not round up to a whole number.
constexpr auto exactly = [](auto a, auto b) {
    using T = decltype(a);
    if (std::isinf(b) && std::isfinite(a)) return a != 0 && (a < 0) != (b < 0) ? T(-1) : T(a / b);
    const T near = std::floor(a / b);
    if (!(std::abs(near) < 1 / std::numeric_limits<T>::epsilon())) return near;
    return static_cast<T>(std::floor(static_cast<long double>(a) / static_cast<long double>(b)));
};
} // namespace test_floordiv

TEST_CASE("floordiv: values, typed and untyped") {
    op_test::binary<float, double>("floor_div", test_floordiv::f, test_floordiv::exactly);
}

TEST_CASE("floordiv: a quotient that rounds up to a whole number is below it, and b q + mod(a, b) is a") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto check = [&]<class T>(T) {
        std::vector<T> a, b;
        for (int n = -40; n <= 40; ++n)
            for (const T d : {T(0.1), T(-0.1), T(0.7), T(-0.3), T(1e-3)})
                a.push_back(T(n) * (n % 2 ? T(1) : d)), b.push_back(d);
        placeholder<T, dyn> x("x"), y("y");
        const auto q = s.run(floordiv(x, y), feed(x, a), feed(y, b)), r = s.run(mod(x, y), feed(x, a), feed(y, b));
        const auto untyped = s.run(any_tensor(floordiv(any_tensor(x), any_tensor(y))), feed(x, a), feed(y, b));
        placeholder<T> c("c"), d("d");
        const auto one = s.make_callable(sealed(floordiv(c, d)), c, d);
        for (std::size_t i = 0; i < a.size(); ++i) {
            INFO(a[i] << " " << b[i]);
            CHECK(std::fma(q(i), b[i], r(i)) == a[i]);
            CHECK(std::abs(r(i)) < std::abs(b[i]));
            CHECK(untyped.template elements<T>()[i] == q(i));
            CHECK(std::get<0>(one(a[i], b[i])) == q(i));
        }
        CHECK(std::get<0>(one(T(1), T(0.1))) == 9);
        CHECK(std::get<0>(one(T(-1), std::numeric_limits<T>::infinity())) == -1);
    };
    check(1.f);
    check(1.);
}

TEST_CASE("floordiv: gradient") { op_test::gradients(test_floordiv::f, {{2.2, 2.8}, {0.95, 1.05}}, 1); }

TEST_CASE("floordiv: integers") {
    constexpr auto reference = [](auto a, auto b) {
        return static_cast<decltype(a)>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
    };
    op_test::binary<int, std::int64_t, std::int8_t>("floor_div", test_floordiv::f, reference,
                                                    {.in = {{-100, 100}, {1, 9}}});
    op_test::binary<int, std::int64_t, std::int8_t>("floor_div", test_floordiv::f, reference,
                                                    {.in = {{-100, 100}, {-9, 0}}});
    op_test::binary<std::uint8_t>("floor_div", test_floordiv::f, reference, {.in = {{0, 200}, {1, 9}}});
}

TEST_CASE("floordiv: integers by zero are refused, and the session goes on") {
    quotient_test::by_zero(test_floordiv::f, 1, std::numeric_limits<int>::min());
}

TEST_CASE("floordiv: known by name") {
    const auto* op = find_op("FloorDiv");
    REQUIRE(op);
    CHECK(op->operands == 2);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::complex64));
}
