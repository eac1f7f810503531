// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/relu.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_relu {
constexpr auto f = [](const auto& x) { return relu(x); };
} // namespace test_relu

TEST_CASE("relu: values") {
    op_test::unary<float, double>("relu", test_relu::f,
                                  [](auto x) { return x > 0 || std::isnan(x) ? x : decltype(x)(0); });
}
TEST_CASE("relu: gradient") { op_test::gradients(test_relu::f, {{0.1, 2}}, 2); }
TEST_CASE("relu: gradient below and at zero") {
    op_test::gradients(test_relu::f, {{-2, -0.1}}, 2);
    placeholder<float> x("x");
    const auto [d] = gradients(relu(x), x);
    CHECK(session().run(d, feed(x, 0.f)) == 0);
}
