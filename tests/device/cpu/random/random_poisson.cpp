// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/random/random_poisson.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_device_random_poisson {

template <class T> std::vector<T> draw(index_t n, const random_stream& s, double rate) {
    std::vector<T> values(static_cast<std::size_t>(n));
    fill_poisson(n, s, rate, values.data());
    return values;
}

TEST_CASE("random_poisson: an element depends on the stream and its place alone") {
    for (const double rate : {2., 200.}) {
        const auto few = draw<double>(20, {7, 1}, rate), many = draw<double>(100, {7, 1}, rate);
        CHECK(std::equal(few.begin(), few.end(), many.begin()));
        CHECK(draw<double>(20, {8, 1}, rate) != few);
        CHECK(many[3] == detail::poisson_value({7, 1}, 3, rate));
    }
}

TEST_CASE("random_poisson: no rate gives no events, and narrow types saturate") {
    const auto none = draw<int>(100, {1, 0}, 0);
    CHECK(std::count(none.begin(), none.end(), 0) == 100);
    CHECK(draw<std::int8_t>(3, {1, 0}, 1000) == std::vector<std::int8_t>{127, 127, 127});
    const auto large = draw<double>(100, {1, 0}, 1e12);
    CHECK(std::all_of(large.begin(), large.end(), [](double k) { return k > 0.99e12 && k < 1.01e12; }));
}

} // namespace test_device_random_poisson
