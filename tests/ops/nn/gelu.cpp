// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/gelu.hpp>

#include <rill/ops/math/expm1.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/ops/nn/elu.hpp>
#include <rill/ops/nn/silu.hpp>
#include <rill/ops/nn/softplus.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_gelu {
constexpr auto f = [](const auto& x) { return gelu(x); };
} // namespace test_gelu

TEST_CASE("gelu: values, typed and untyped") {
    op_test::unary<float, double>("gelu", test_gelu::f,
                                  [](auto x) {
                                      const auto exact = static_cast<long double>(x);
                                      return static_cast<decltype(x)>(exact * std::erfc(-exact / std::sqrt(2.L)) / 2);
                                  },
                                  {.ulps = 1000});
}

TEST_CASE("gelu: gradient, to second order") { op_test::gradients(test_gelu::f, {{-2, 2}}, 2); }

namespace test_gelu_of_a_program { // functions of a program's own go before those of the library
using namespace rill;
template <class X> auto gelu(const X& x) { return 0.5f * x * (1.f + tanh(0.79788456f * (x + 0.044715f * x * x * x))); }
auto softplus(auto x) { return log(1.f + exp(x)); }
auto elu(const auto& x, float alpha) { return select(x > 0.f, x, alpha * expm1(x)); }
constexpr auto silu = [](const auto& x) { return 3.f * x; };

TEST_CASE("gelu and its like: a program's own of the same name") {
    placeholder<float> x("x");
    const session s;
    CHECK(s.run(gelu(x), feed(x, 1.f)) == Approx(0.841192f).epsilon(1e-5));
    CHECK(s.run(rill::gelu(x), feed(x, 1.f)) == Approx(0.841345f).epsilon(1e-6));
    CHECK(s.run(softplus(x), feed(x, 100.f)) == std::numeric_limits<float>::infinity());
    CHECK(s.run(rill::softplus(x), feed(x, 100.f)) == 100);
    CHECK(s.run(elu(x, 2.f), feed(x, 3.f)) == 3);
    CHECK(s.run(silu(x), feed(x, 3.f)) == 9);
}
} // namespace test_gelu_of_a_program

TEST_CASE("gelu: known by name") {
    const auto* op = find_op("Gelu");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
