// SPDX-License-Identifier: BSD-3-Clause
// Elementwise ops that are 0 where an operand is: div_no_nan, mul_no_nan, xlogy, xdivy.
#include <rill/ops/math/div_no_nan.hpp>

#include <rill/ops/math/mul_no_nan.hpp>
#include <rill/ops/math/xdivy.hpp>
#include <rill/ops/math/xlogy.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_math_div_no_nan {

constexpr auto quotient = [](const auto& a, const auto& b) { return div_no_nan(a, b); };
constexpr auto product = [](const auto& a, const auto& b) { return mul_no_nan(a, b); };
constexpr auto by_log = [](const auto& a, const auto& b) { return xlogy(a, b); };
constexpr auto over = [](const auto& a, const auto& b) { return xdivy(a, b); };

TEST_CASE("div_no_nan and its kin: values, typed and untyped") {
    op_test::binary<float, double>("div_no_nan", quotient, [](auto a, auto b) { return b == 0 ? b - b : a / b; });
    op_test::binary<float>("mul_no_nan", product, [](auto a, auto b) { return b == 0 ? b - b : a * b; });
    op_test::binary<float>("xlogy", by_log, [](auto a, auto b) { return a == 0 ? a - a : a * std::log(b); },
                           {.ulps = 8});
    op_test::binary<float>("xdivy", over, [](auto a, auto b) { return a == 0 ? a - a : a / b; });
}

TEST_CASE("div_no_nan and its kin: gradients, to second order") {
    op_test::gradients(quotient, {{-2, 2}, {1, 3}}, 2);
    op_test::gradients(product, {{-2, 2}, {1, 3}}, 2);
    op_test::gradients(by_log, {{1, 2}, {1, 3}}, 2);
    op_test::gradients(over, {{1, 2}, {1, 3}}, 2);
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor a = constant({0.f, 1.f}), b = constant({0.f, 0.f});
    const auto none = [&](const auto& y) {
        const auto [da, db] = gradients(y, a, b);
        return op_test::list(s.run(da))[0] == 0.f && op_test::list(s.run(db))[0] == 0.f;
    };
    CHECK(none(div_no_nan(a, b)));
    CHECK(none(mul_no_nan(a, b)));
    CHECK(none(xlogy(a, b)));
    CHECK(none(xdivy(a, b)));
    placeholder<float, dyn> p("p"), q("q");
    const auto [dp, dq] = gradients(xdivy(p, q), p, q);
    const std::vector<float> at{1e-25f, 1e22f}; // whose squares leave the range
    const auto by = op_test::list(s.run(dq, feed(p, at), feed(q, at)));
    CHECK((by[0] == Approx(-1e25f) && by[1] == Approx(-1e-22f)));
}

} // namespace test_ops_math_div_no_nan
