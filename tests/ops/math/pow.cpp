// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/pow.hpp>

#include <rill/ops/math/reduce_sum.hpp>

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

TEST_CASE("pow: polynomials have gradients at 0") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double> x("x");
    const auto sum = reduce_sum(pow(x, constant({0., 1., 2., 3.})));
    const auto [d] = gradients(sum, x);
    const auto [d2] = gradients(d, x);
    const auto [d3] = gradients(d2, x);
    for (const double at : {0., 2., -1.}) {
        CHECK(s.run(d, feed(x, at)) == 1 + 2 * at + 3 * at * at);
        CHECK(s.run(d2, feed(x, at)) == 2 + 6 * at);
        CHECK(s.run(d3, feed(x, at)) == 6);
    }
    placeholder<float> tiny("tiny"), b("b");
    const auto [dt] = gradients(pow(tiny, b), tiny);
    CHECK(s.run(dt, feed(tiny, 1e-40f), feed(b, 0.f)) == 0); // the reciprocal is infinite
    const auto [dtb] = gradients(dt, b);
    CHECK(s.run(dtb, feed(tiny, 4.f), feed(b, 0.f)) == Approx(0.25));
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

TEST_CASE("pow: of integers it is exact, and wraps") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto of = [&]<class T>(const std::vector<T>& a, const std::vector<T>& b) {
        placeholder<T, dyn> x("x"), y("y");
        const auto typed = s.run(pow(x, y), feed(x, a), feed(y, b));
        const auto untyped = s.run(any_tensor(pow(any_tensor(x), any_tensor(y))), feed(x, a), feed(y, b));
        const auto values = untyped.template elements<T>();
        CHECK(std::vector<T>(typed.begin(), typed.end()) == std::vector<T>(values.begin(), values.end()));
        return std::vector<T>(typed.begin(), typed.end());
    };
    using i64 = std::int64_t;
    CHECK(of(std::vector<i64>{3, -3, 2, 7}, std::vector<i64>{39, 39, 62, 0}) ==
          std::vector<i64>{4052555153018976267, -4052555153018976267, i64(1) << 62, 1});
    CHECK(of(std::vector<int>{2, 2, -1, -1, 5, 1}, std::vector<int>{31, 32, -3, -4, -1, -9}) ==
          std::vector<int>{std::numeric_limits<int>::min(), 0, -1, 1, 0, 1});
    CHECK(of(std::vector<int>(100, 3), std::vector<int>(100, 5)) == std::vector<int>(100, 243)); // whole registers
    placeholder<int, dyn> x("x"), y("y");
    CHECK_THROWS_WITH(s.run(pow(x, y), feed(x, std::vector{2, 0}), feed(y, std::vector{1, -1})),
                      contains("integer division by zero"));
}
