// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/algorithm.hpp>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("algorithm: what holds of any, all and none of a list") {
    const std::vector<int> some{1, 2, 3}, none;
    const auto even = [](int x) { return x % 2 == 0; };
    CHECK(detail::any_of(some, even));
    CHECK_FALSE(detail::all_of(some, even));
    CHECK_FALSE(detail::none_of(some, even));
    CHECK_FALSE(detail::any_of(none, even));
    CHECK(detail::all_of(none, even));
    CHECK(detail::none_of(none, even));
}

TEST_CASE("algorithm: where something is, and whether lists are equal") {
    std::vector<std::string> words{"a", "b", "b"};
    CHECK(detail::find(words, "b") - words.begin() == 1);
    CHECK(detail::find(words, "c") == words.end());
    CHECK(detail::find_if(words, [](const auto& w) { return w > "a"; }) - words.begin() == 1);
    *detail::find(words, "a") = "z";
    CHECK(detail::contains(words, "z"));
    CHECK_FALSE(detail::contains(words, "a"));
    CHECK(detail::equal(words, std::vector<std::string>{"z", "b", "b"}));
    CHECK_FALSE(detail::equal(words, std::vector<std::string>{"z", "b"}));
    CHECK_FALSE(detail::equal(words, std::vector<std::string>{"z", "b", "c"}));
    CHECK(detail::equal(words, words, [](const auto& a, const auto& b) { return a.size() == b.size(); }));
}

TEST_CASE("algorithm: sorting keeps equal elements in order, and takes any length") {
    std::mt19937 random(3);
    for (std::size_t n = 0; n < 70; ++n) {
        std::vector<std::pair<int, std::size_t>> all;
        for (std::size_t i = 0; i < n; ++i) all.emplace_back(static_cast<int>(random() % 9), i);
        auto expected = all;
        std::stable_sort(expected.begin(), expected.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        detail::sort(all, [](const auto& a, const auto& b) { return a.first < b.first; });
        CHECK(all == expected);
    }
    std::vector<std::string> words{"c", "a", "b"};
    detail::sort(words);
    CHECK(words == std::vector<std::string>{"a", "b", "c"});
    int numbers[] = {9, 3, 2, 1};
    detail::sort(std::span(numbers).subspan(1));
    CHECK((numbers[0] == 9 && numbers[1] == 1 && numbers[3] == 3));
}
