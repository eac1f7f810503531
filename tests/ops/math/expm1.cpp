// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/expm1.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_expm1 {
constexpr auto f = [](const auto& x) { return expm1(x); };
} // namespace test_expm1

TEST_CASE("expm1: values") {
    op_test::unary<float, double>("expm1", test_expm1::f, [](auto x) { return std::expm1(x); });
}
TEST_CASE("expm1: gradient") { op_test::gradients(test_expm1::f, {{-2, 2}}); }

TEST_CASE("expm1: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "expm1", test_expm1::f, [](auto x) { return decltype(x)(std::exp(std::complex<long double>(x)) - 1.0L); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_expm1::f, {{0.3, 1}});
    const graph g;
    const graph_scope here(g);
    const std::complex<double> small(1e-20, 2e-20);
    CHECK(session(g).run(expm1(constant(small))) == small);
}
