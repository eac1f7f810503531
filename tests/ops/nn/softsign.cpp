// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/softsign.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_softsign {
constexpr auto f = [](const auto& x) { return softsign(x); };
} // namespace test_softsign

TEST_CASE("softsign: values, typed and untyped") {
    op_test::unary<float, double>("softsign", test_softsign::f, [](auto x) {
        return std::isinf(x) ? std::copysign(decltype(x)(1), x) : x / (1 + std::abs(x));
    });
}

TEST_CASE("softsign: gradient, to second order") {
    op_test::gradients(test_softsign::f, {{0.1, 2}}, 2);
    op_test::gradients(test_softsign::f, {{-2, -0.1}}, 2);
}

TEST_CASE("softsign: at its ends, with the gradient there") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto check = [&](const auto& x, const auto& dx, auto number) {
        using T = decltype(number);
        const std::vector<T> at{T(INFINITY), T(-INFINITY), T(1), T(-3e4f)};
        const auto y = s.run(softsign(x), feed(x, at));
        const auto slope = s.run(dx, feed(x, at));
        CHECK((y(0) == T(1) && y(1) == T(-1) && y(2) == T(0.5f)));
        CHECK((slope(0) == T(0) && slope(1) == T(0) && slope(2) == T(0.25f)));
    };
    placeholder<float, dyn> x("x");
    placeholder<double, dyn> z("z");
    check(x, std::get<0>(gradients(softsign(x), x)), 0.f);
    check(z, std::get<0>(gradients(softsign(z), z)), 0.);
    CHECK(s.run(any_tensor(softsign(any_tensor(x))), feed(x, std::vector{INFINITY})).elements<float>()[0] == 1.f);
}

namespace test_softsign_of_a_program {
struct softsign { // the name of the library's function
    static constexpr auto name = "TestSoftsign";
    template <class V> static constexpr V value(V x) { return x / (V(2) + abs(x)); }
    template <class V> static constexpr V pullback(V, V, V g) { return g; }
};

TEST_CASE("softsign: a program's own op of that name") {
    placeholder<float> x("x");
    CHECK(session().run(apply<softsign>(x), feed(x, 2.f)) == 0.5f);
}
} // namespace test_softsign_of_a_program
