// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd/mask_memory.hpp>

#include <algorithm>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

TEST_CASE("without registers there is nothing to convert") { SUCCEED(); }

#if RILL_WITH_XSIMD

TEMPLATE_TEST_CASE("masks as bytes", "", float, double, std::int8_t, std::int16_t, std::int32_t, std::uint64_t) {
    constexpr int N = simd<TestType>::lanes;
    bool from[N], to[N];
    for (int i = 0; i < N; ++i) from[i] = (i * 5) % 3 != 1;
    store_mask(load_mask<TestType>(from), to);
    CHECK(std::equal(from, from + N, to));
    TestType chosen[N];
    select(load_mask<TestType>(from), simd<TestType>(TestType(1)), simd<TestType>(TestType(0))).store(chosen);
    for (int i = 0; i < N; ++i) CHECK((chosen[i] == TestType(1)) == from[i]);
}

#endif
