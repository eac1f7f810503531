// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/softsign.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_softsign {
constexpr auto f = [](const auto& x) { return softsign(x); };
} // namespace test_softsign

TEST_CASE("softsign: values, typed and untyped") {
    op_test::unary<float, double>("softsign", test_softsign::f, [](auto x) { return x / (1 + std::abs(x)); });
}

TEST_CASE("softsign: gradient, to second order") {
    op_test::gradients(test_softsign::f, {{0.1, 2}}, 2);
    op_test::gradients(test_softsign::f, {{-2, -0.1}}, 2);
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
