// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/abs.hpp>

#include "ops/math/complex_test.hpp"

using namespace rill;

namespace test_abs {
constexpr auto f = [](const auto& x) { return abs(x); };
} // namespace test_abs

TEST_CASE("abs: values") {
    op_test::unary<float, double, int>("abs", test_abs::f, [](auto x) { return std::abs(x); });
}
TEST_CASE("abs: gradient") { op_test::gradients(test_abs::f, {{0.1, 2}}, 2); }
TEST_CASE("abs: gradient below zero") { op_test::gradients(test_abs::f, {{-2, -0.1}}, 2); }

TEST_CASE("abs: complex numbers, and their gradient") {
    complex_test::of_complex([](const auto& z) { return abs(z); }, [](const auto& z) { return std::abs(z); },
                             {.order = 1, .ulps = 8});
    using C = std::complex<float>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<C> z("z");
    const auto size = abs(z);
    static_assert(std::is_same_v<std::remove_const_t<decltype(size)>, tensor<float>>);
    CHECK(s.run(size, feed(z, C(3e30f, 4e30f))) == Approx(5e30f)); // whose square is infinite
    const auto [dz] = gradients(size, z);
    CHECK(s.run(dz, feed(z, C(0))) == C(0));
    CHECK(s.run(dz, feed(z, C(3, 4))).imag() == Approx(0.8f));
}

TEST_CASE("abs: of complex numbers, derivatives of higher order") {
    using C = std::complex<double>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<C> z("z");
    const auto size = abs(z);
    const auto [dz] = gradients(size, z);
    const auto [dzz] = gradients(real(dz), z); // of x / |z| by x and y
    const C at(3, 4), second = s.run(dzz, feed(z, at));
    CHECK(second.real() == Approx(16. / 125));
    CHECK(second.imag() == Approx(-12. / 125));
    for (const C zero : {C(0), C(-0., 0.)}) {
        CHECK(s.run(size, feed(z, zero)) == 0);
        CHECK(s.run(dz, feed(z, zero)) == C(0));
    }
    CHECK(s.run(size, feed(z, C(INFINITY, 1))) == INFINITY);
    CHECK(s.run(size, feed(z, C(-2, -INFINITY))) == INFINITY);
    CHECK(std::isnan(s.run(size, feed(z, C(NAN, 1)))));
    CHECK(s.run(size, feed(z, C(3e-320, 4e-320))) == Approx(5e-320));
    CHECK(s.run(size, feed(z, C(3e300, -4e300))) == Approx(5e300));
}
