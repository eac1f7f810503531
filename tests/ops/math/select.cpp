// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/select.hpp>

#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/sin.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_select {
constexpr auto f = [](const auto& c, const auto& a, const auto& b) { return select(c, a, b); };
constexpr auto reference = [](bool c, auto a, auto b) { return c ? a : b; };
} // namespace test_select

TEST_CASE("select: values") {
    op_test::elementwise<bool, float, float>("select", test_select::f, test_select::reference);
    op_test::elementwise<bool, double, double>("select", test_select::f, test_select::reference);
    op_test::elementwise<bool, int, int>("select", test_select::f, test_select::reference);
    op_test::elementwise<bool, std::complex<float>, std::complex<float>>("select", test_select::f,
                                                                         test_select::reference);
}
TEST_CASE("select: gradient") {
    op_test::gradients([](const auto& a, const auto& b) { return select(a > b, a * b, sin(b)); }, {{-2, 2}, {-1.9, 2}},
                       2);
}

TEST_CASE("select: numbers take the dtype of the other side") {
    placeholder<float, dyn> x("x");
    const session s;
    const std::vector<float> v{-1, 2};
    CHECK(op_test::list(s.run(select(x > 0, x, 0), feed(x, v))) == std::vector<float>{0, 2});
    CHECK(op_test::list(s.run(select(x > 0, 1.5, x), feed(x, v))) == std::vector<float>{-1, 1.5f});
}

TEST_CASE("select: of tensors of unknown type") {
    const auto c = any_placeholder("c", dtype::boolean), a = any_placeholder("a", dtype::float32),
               b = any_placeholder("b", dtype::float64);
    CHECK_THROWS_AS(select(c, a, b), invalid_argument);
    CHECK_THROWS_WITH(select(a, a, a), contains("select: operand 0 must be bool"));
    const any_tensor y = select(c, a, 2);
    using namespace op_test;
    const session s;
    const auto got = run(s, y, {c, a}, {make_array<bool>({3}, {true, false, true}), make_array<float>({1}, {7})});
    CHECK(difference<float>(got, {3}, {7, 2, 7}) == "");
}
