// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/random/random_gamma.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include "catch.hpp"

using namespace rill;

namespace test_device_random_gamma {

template <class T> std::vector<T> draw(index_t n, const random_stream& s, double shape, double rate) {
    std::vector<T> values(static_cast<std::size_t>(n));
    fill_gamma(n, s, shape, rate, values.data());
    return values;
}

TEST_CASE("random_gamma: an element depends on the stream and its place alone") {
    const auto few = draw<double>(5, {7, 1}, 0.7, 1), many = draw<double>(100, {7, 1}, 0.7, 1);
    CHECK(std::equal(few.begin(), few.end(), many.begin()));
    CHECK(draw<double>(5, {8, 1}, 0.7, 1) != few);
    CHECK(draw<double>(5, {7, 2}, 0.7, 1) != few);
    CHECK(many[3] == detail::gamma_value({7, 1}, 3, 0.7));
}

TEST_CASE("random_gamma: the rate scales, narrow types are rounded, and nothing is 0") {
    const auto x = draw<double>(50, {1, 0}, 3, 1), half_of_it = draw<double>(50, {1, 0}, 3, 2);
    const auto narrow = draw<float>(50, {1, 0}, 3, 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
        CHECK(half_of_it[i] == x[i] / 2);
        CHECK(narrow[i] == static_cast<float>(x[i]));
    }
    const auto tiny = draw<float>(1000, {1, 0}, 1e-4, 1);
    CHECK(*std::min_element(tiny.begin(), tiny.end()) == std::numeric_limits<float>::min());
    for (const half g : draw<half>(1000, {1, 0}, 1e-4, 1)) CHECK(static_cast<float>(g) >= 0x1p-14f);
    for (const bfloat16 g : draw<bfloat16>(1000, {1, 0}, 1e-4, 1)) CHECK(static_cast<float>(g) > 0);
}

} // namespace test_device_random_gamma
