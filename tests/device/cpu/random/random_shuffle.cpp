// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/random/random_shuffle.hpp>

#include <map>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("random_shuffle: every order of three is as likely as another") {
    std::map<std::vector<index_t>, int> count;
    for (std::uint64_t run = 0; run < 6000; ++run) {
        std::vector<index_t> places(3);
        detail::shuffle_places(3, {11, run}, places.data());
        ++count[places];
    }
    CHECK(count.size() == 6);
    for (const auto& [order, times] : count) CHECK(times == Approx(1000).margin(150)); // five deviations of 29
}

TEST_CASE("random_shuffle: rows stay whole, also texts") {
    const std::vector<float> x{0, 1, 10, 11, 20, 21, 30, 31};
    std::vector<float> y(x.size());
    std::vector<index_t> places(4);
    shuffle_rows(dtype::float32, x.data(), y.data(), 4, 2, {11, 3}, places.data());
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(y[2 * i] == 10 * static_cast<float>(places[i]));
        CHECK(y[2 * i + 1] == y[2 * i] + 1);
    }
    const std::string words[] = {"a", "b", "c", "d"};
    std::string shuffled[4];
    shuffle_rows(dtype::string, words, shuffled, 4, 1, {11, 3}, places.data());
    for (std::size_t i = 0; i < 4; ++i) CHECK(shuffled[i] == words[places[i]]);
}
