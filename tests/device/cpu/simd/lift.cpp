// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd/lift.hpp>

#include <rill/device/cpu/simd/pack.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_lift {

struct twice_and_one {
    template <class V> RILL_FN static V run(const V& x) { return x + x + V(1); }
};

TEMPLATE_TEST_CASE("a function of one part serves all parts", "", float, std::int64_t, std::complex<double>) {
    constexpr int N = 4 * lanes_for<TestType>;
    using V = pack<TestType, N>;
    TestType x[N], y[N];
    for (int i = 0; i < N; ++i) x[i] = TestType(static_cast<real_type<TestType>>(i));
    detail::lift<V, twice_and_one>(V::load(x)).store(y);
    for (int i = 0; i < N; ++i) CHECK(y[i] == x[i] + x[i] + TestType(1));
}

} // namespace test_device_cpu_lift
