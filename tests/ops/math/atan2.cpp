// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/atan2.hpp>

#include <cmath>
#include <limits>
#include <utility>

#include "ops/harness.hpp"

using namespace rill;

namespace test_atan2 {
constexpr auto f = [](const auto& a, const auto& b) { return atan2(a, b); };
} // namespace test_atan2

TEST_CASE("atan2: values, typed and untyped") {
    op_test::binary<float, double>("atan2", test_atan2::f, [](auto a, auto b) {
        return static_cast<decltype(a)>(std::atan2(static_cast<long double>(a), static_cast<long double>(b)));
    });
}

TEST_CASE("atan2: gradient, to second order") {
    op_test::gradients(test_atan2::f, {{-2, 2}, {0.5, 2}}, 2);
    op_test::gradients(test_atan2::f, {{0.5, 2}, {-2, -0.5}}, 2);
}

TEST_CASE("atan2: gradient of very large and small numbers, and at 0") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float> a("a"), b("b");
    const auto [da, db] = gradients(atan2(a, b), a, b);
    const auto [daa, dab] = gradients(da, a, b);
    for (const float size : {1e-23f, 1.f, 1e20f, 1e-36f, 1e36f})
        for (const auto& [x, y] : {std::pair(1.f, 2.f), std::pair(-3.f, 1.f), std::pair(1.f, -1.f)}) {
            const double square = x * x + y * y;
            CHECK(s.run(da, feed(a, x * size), feed(b, y * size)) == Approx(y / square / size));
            CHECK(s.run(db, feed(a, x * size), feed(b, y * size)) == Approx(-x / square / size));
        }
    for (const auto& d : {da, db, daa, dab}) CHECK(s.run(d, feed(a, 0.f), feed(b, 0.f)) == 0);
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    for (const auto& d : {da, db}) {
        CHECK(s.run(d, feed(a, 2.f), feed(b, -inf)) == 0);
        CHECK(s.run(d, feed(a, inf), feed(b, 0.f)) == 0);
        CHECK(std::isnan(s.run(d, feed(a, 0.f), feed(b, nan))));
        CHECK(std::isnan(s.run(d, feed(a, nan), feed(b, 0.f))));
    }
}

TEST_CASE("atan2: known by name") {
    const auto* op = find_op("Atan2");
    REQUIRE(op);
    CHECK(op->operands == 2);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
