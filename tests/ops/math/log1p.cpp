// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/log1p.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_log1p {
constexpr auto f = [](const auto& x) { return log1p(x); };
} // namespace test_log1p

TEST_CASE("log1p: values") {
    op_test::unary<float, double>("log1p", test_log1p::f, [](auto x) { return std::log1p(x); });
}
TEST_CASE("log1p: gradient") { op_test::gradients(test_log1p::f, {{-0.5, 3}}); }

TEST_CASE("log1p: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "log1p", test_log1p::f, [](auto x) { return decltype(x)(std::log(1.0L + std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_log1p::f, {{0.5, 2}});
    const graph g;
    const graph_scope here(g);
    const std::complex<double> small(1e-20, 2e-20);
    CHECK(session(g).run(log1p(constant(small))) == small); // which 1 + x forgets
    const std::complex<double> near(-1, 1e-9);
    const auto got = session(g).run(log1p(constant(near)));
    CHECK(got.real() == Approx(std::log(1e-9)));
    CHECK(got.imag() == Approx(std::acos(0.)));
}
