// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd/simd_memory.hpp>

#include <memory>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

TEST_CASE("without registers there is nothing to move") { SUCCEED(); }

#if RILL_WITH_XSIMD

TEMPLATE_TEST_CASE("the first lanes of a register", "", float, double, std::int8_t, std::int16_t, std::int32_t,
                   std::uint64_t) {
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

#endif
