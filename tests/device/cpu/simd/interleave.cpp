// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd/interleave.hpp>

#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_interleave {

template <int S, class T> bool interleaves(int rows, int n, int to_step) {
    const int from_step = n + 3;
    std::vector<T> from(static_cast<std::size_t>(rows * from_step)),
        to(static_cast<std::size_t>((n - 1) * to_step + S));
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i % 101);
    from.resize(static_cast<std::size_t>((rows - 1) * from_step + n)); // nothing beyond the last element may be read
    from.shrink_to_fit();
    detail::interleave_rows<S>(from.data(), from_step, rows, n, to.data(), to_step);
    for (int l = 0; l < n; ++l)
        for (int r = 0; r < S; ++r)
            if (to[static_cast<std::size_t>(l * to_step + r)] !=
                from[static_cast<std::size_t>(std::min(r, rows - 1) * from_step + l)])
                return false;
    return true;
}

TEMPLATE_TEST_CASE("rows become columns", "", float, double, std::int32_t, std::int64_t) {
    constexpr int lanes = detail::native_lanes<TestType> > 0 ? detail::native_lanes<TestType> : 8;
    for (int n : {1, 2, 5, lanes, lanes + 1, 3 * lanes + 2}) {
        CHECK(interleaves<lanes, TestType>(lanes, n, lanes));
        CHECK(interleaves<lanes, TestType>(lanes, n, 3 * lanes));
        CHECK(interleaves<lanes, TestType>(lanes / 2 + 1, n, lanes));
        CHECK(interleaves<lanes, TestType>(1, n, 2 * lanes));
        CHECK(interleaves<2, TestType>(2, n, 2));
        CHECK(interleaves<1, TestType>(1, n, 1));
        if constexpr (lanes >= 4) CHECK(interleaves<4, TestType>(3, n, 4));
    }
}

} // namespace test_device_cpu_interleave
