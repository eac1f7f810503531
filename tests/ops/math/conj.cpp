// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/conj.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_conj {
constexpr auto f = [](const auto& x) { return conj(x); };
} // namespace test_conj

TEST_CASE("conj: values") {
    op_test::unary<std::complex<float>, std::complex<double>>("conj", test_conj::f,
                                                              [](auto x) { return std::conj(x); });
}
TEST_CASE("conj: gradient") { op_test::complex_gradients(test_conj::f, {{-2, 2}}); }

TEST_CASE("conj: a real number is its own conjugate, without a node") {
    placeholder<float> x("x");
    CHECK(conj(x).end() == x.end());
}
