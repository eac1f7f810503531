// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/combiners.hpp>

#include <limits>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("combiners: identities, folds of any length, merges, means") {
    require_combiner<combine::sum, float>();
    require_combiner<combine::max, int>();
    require_combiner<combine::all, bool>();
    const combiner* sum = the_kernels().combiners.find("Sum/float32");
    const combiner* max = the_kernels().combiners.find("Max/int32");
    const combiner* all = the_kernels().combiners.find("All/bool");
    REQUIRE(sum);
    REQUIRE(max);
    REQUIRE(all);
    for (const int n : {0, 1, 5, 16, 63, 64, 65, 1000}) {
        std::vector<float> v(static_cast<std::size_t>(n));
        float expected = 0;
        for (int i = 0; i < n; ++i) expected += v[static_cast<std::size_t>(i)] = static_cast<float>(i % 7) - 2.f;
        float got = -1;
        sum->init(&got, 1);
        sum->fold(&got, v.data(), n);
        CHECK(got == expected);
        std::vector<float> twice(v);
        sum->merge(twice.data(), v.data(), n);
        if (n > 0) CHECK(twice.back() == 2 * v.back());
        sum->scale(twice.data(), twice.data(), n, 0.25);
        if (n > 0) CHECK(twice.back() == v.back() / 2);
    }
    int largest = 0;
    max->init(&largest, 1);
    CHECK(largest == std::numeric_limits<int>::lowest());
    const std::vector<int> values{3, -5, 12, 7};
    max->fold(&largest, values.data(), 4);
    CHECK(largest == 12);
    bool every = false;
    all->init(&every, 1);
    CHECK(every);
    const bool flags[] = {true, false, true};
    all->fold(&every, flags, 3);
    CHECK_FALSE(every);
}
