// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd_memory.hpp>

#include <memory>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

TEST_CASE("without registers there is nothing to move") { SUCCEED(); }

#if RILL_WITH_XSIMD

TEMPLATE_TEST_CASE("the first lanes of a register", "", float, double, std::int8_t, std::int16_t, std::int32_t, std::uint64_t) {
    constexpr int N = simd<TestType>::lanes;
    for (int count = 1; count <= 2 * N + 1; ++count) {
        const auto n = static_cast<std::size_t>(count);
        const auto from = std::make_unique<TestType[]>(n), to = std::make_unique<TestType[]>(n);
        for (std::size_t i = 0; i < n; ++i) from[i] = static_cast<TestType>(i + 1);
        bool right = true;
        for (int first = 0; first < 3 * N; first += N) {
            const simd<TestType> x = load_some(from.get(), first, count);
            TestType lanes[N];
            x.store(lanes);
            for (int i = 0; i < N; ++i)
                right = right && lanes[i] == from[static_cast<std::size_t>(std::min(first + i, count - 1))];
            store_some(x, to.get(), first, count);
        }
        for (std::size_t i = 0; i < n; ++i) right = right && to[i] == from[i];
        CHECK(right);
    }
}

TEMPLATE_TEST_CASE("masks as bytes", "", float, double, std::int8_t, std::int16_t, std::int32_t, std::uint64_t) {
    constexpr int N = simd<TestType>::lanes;
    bool from[N], to[N];
    for (int i = 0; i < N; ++i) from[i] = (i * 5) % 3 == 1;
    store_mask(load_mask<TestType>(from), to);
    CHECK(std::equal(from, from + N, to));
    TestType chosen[N];
    select(load_mask<TestType>(from), simd<TestType>(TestType(1)), simd<TestType>(TestType(0))).store(chosen);
    for (int i = 0; i < N; ++i) CHECK((chosen[i] == TestType(1)) == from[i]);
}

#endif
