// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/pow.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_pow {
constexpr auto f = [](const auto& a, const auto& b) { return pow(a, b); };
constexpr auto reference = [](auto a, auto b) { return std::pow(a, b); };
} // namespace test_pow

TEST_CASE("pow: values") { op_test::binary<float, double>("pow", test_pow::f, test_pow::reference); }
TEST_CASE("pow: gradient") { op_test::gradients(test_pow::f, {{0.5, 2}, {-2, 2}}); }

TEST_CASE("pow: gradients at a = 0, where there is no logarithm") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double> a("a"), b("b");
    const auto [da, db] = gradients(pow(a, b), a, b);
    const auto [dba, dbb] = gradients(db, a, b);
    const auto [daa, dab] = gradients(da, a, b);
    const auto at = [&](const auto& d, double x, double y) { return s.run(d, feed(a, x), feed(b, y)); };
    for (const auto& d : {da, db, dba, dbb, dab}) CHECK(at(d, 0, 2) == 0);
    CHECK(at(daa, 0, 2) == 2);
    CHECK(at(db, -3, 2) == 0);
    CHECK(at(dba, -3, 2) == 0);
    CHECK(at(dba, 3, 2) == Approx(3 + 6 * std::log(3)));
    CHECK(at(dab, 3, 2) == Approx(3 + 6 * std::log(3)));
}

TEST_CASE("pow: complex numbers, and their gradients") {
    op_test::binary<std::complex<float>, std::complex<double>>("pow", test_pow::f, test_pow::reference,
                                                               {.in = {{0.5, 2}, {0.5, 2}}, .ulps = 32});
    op_test::complex_gradients(test_pow::f, {{0.5, 2}, {0.5, 2}});
    using C = std::complex<double>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<C> a("a"), b("b");
    const auto [da, db] = gradients(pow(a, b), a, b);
    const auto at = [&](const auto& y, C x, C to) { return s.run(y, feed(a, x), feed(b, to)); };
    CHECK(at(pow(a, b), 0, 0) == C(1));
    CHECK(at(pow(a, b), 0, C(2, 1)) == C(0));
    CHECK(at(da, 0, 2) == C(0));
    CHECK(at(db, 0, 2) == C(0));
}
