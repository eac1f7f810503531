// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd/simd.hpp>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

TEST_CASE("types with registers") {
    CHECK(native_lanes<bool> == 0);
    CHECK(native_lanes<std::complex<float>> == 0);
    CHECK((native_lanes<float> > 1) == (RILL_WITH_XSIMD && RILL_ISA_LEVEL > 0));
}

#if RILL_WITH_XSIMD

TEMPLATE_TEST_CASE("registers of floats", "", float, double) {
    using V = simd<TestType>;
    const TestType nan = std::numeric_limits<TestType>::quiet_NaN();
    const auto first = [](V x) {
        TestType v[V::lanes];
        x.store(v);
        return v[0];
    };
    const V one(TestType(1)), two(TestType(2)), none(nan);
    SECTION("the second operand wins where floats do not compare") {
        CHECK(first(larger(one, two)) == 2);
        CHECK(first(smaller(one, two)) == 1);
        CHECK(first(larger(none, two)) == 2);
        CHECK(std::isnan(first(larger(one, none))));
        CHECK(first(smaller(none, two)) == 2);
        CHECK(std::signbit(first(larger(V(TestType(0)), V(TestType(-0.0))))));
        CHECK_FALSE(std::signbit(first(smaller(V(TestType(-0.0)), V(TestType(0))))));
    }
    SECTION("products") {
        CHECK(first(fma(two, two, one)) == 5);
        CHECK(first(fnma(two, two, one)) == -3);
    }
    SECTION("signs and rounding") {
        CHECK(first(V::with_sign_of(V(TestType(-3)), two)) == -2);
        CHECK(first(V::rounded(V(TestType(2.5)))) == 2);
        CHECK(first(V::rounded(V(TestType(-3.5)))) == -4);
        CHECK(std::signbit(first(V::rounded(V(TestType(-0.25))))));
        CHECK(std::isnan(first(V::rounded(none))));
        CHECK(std::signbit(first(-V(TestType(0)))));
    }
    SECTION("NaN equals nothing") {
        CHECK_FALSE(any_of(none == none));
        CHECK_FALSE(any_of(!(none != none)));
        CHECK_FALSE(any_of(none < one || none >= one));
    }
    SECTION("lane by lane") {
        CHECK(first(V::by_lane([](lane<TestType> x) { return x + 1; }, two)) == 3);
        CHECK(first(V::by_lane([](lane<TestType> x, lane<TestType> y) { return x - y; }, two, one)) == 1);
    }
}

TEMPLATE_TEST_CASE("masks of registers", "", float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t) {
    using M = simd_mask<TestType>;
    const M yes(true), no(false);
    CHECK(any_of(yes));
    CHECK_FALSE(any_of(no));
    CHECK_FALSE(any_of(yes != yes));
    CHECK(any_of(yes != no));
    CHECK_FALSE(any_of(!(no == no)));
    CHECK(any_of(yes && !no));
    CHECK_FALSE(any_of(!(yes || no)));
}

TEST_CASE("shifts") {
    std::int32_t v[simd<std::int32_t>::lanes];
    shift_left(simd<std::int32_t>(3), 4).store(v);
    CHECK(v[0] == 48);
    std::uint64_t u[simd<std::uint64_t>::lanes];
    shift_right(simd<std::uint64_t>(std::uint64_t(1) << 63), 60).store(u);
    CHECK(u[0] == 8);
}

#endif
