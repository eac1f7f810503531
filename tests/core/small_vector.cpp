// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/small_vector.hpp>

#include "catch.hpp"

using namespace rill;

using ints = small_vector<int, 2>;

TEST_CASE("small_vector: the first values are kept in place, more on the heap") {
    ints v;
    CHECK(v.empty());
    const auto* const own = reinterpret_cast<const std::byte*>(&v);
    const auto in_place = [&] {
        const auto* const at = reinterpret_cast<const std::byte*>(v.data());
        return at >= own && at < own + sizeof v;
    };
    for (int i = 0; i < 100; ++i) {
        v.push_back(i);
        CHECK(in_place() == (i < 2));
    }
    REQUIRE(v.size() == 100);
    for (int i = 0; i < 100; ++i) CHECK(v[static_cast<std::size_t>(i)] == i);
    CHECK(v.back() == 99);
    CHECK(std::vector<int>(v.begin(), v.end()).size() == 100);
    v.clear();
    CHECK(v.empty());
}

TEST_CASE("small_vector: copies are their own, moving leaves nothing") {
    for (const ints& from : {ints{}, ints{1}, ints{1, 2}, ints{1, 2, 3}}) {
        ints copy = from, other{7, 8, 9, 10};
        CHECK(copy == from);
        other = copy;
        CHECK(other == from);
        other = *&other;
        CHECK(other == from);
        ints moved = std::move(copy);
        CHECK(moved == from);
        other = std::move(moved);
        CHECK(other == from);
        other.push_back(5);
        CHECK(other.size() == from.size() + 1);
        CHECK_FALSE(other == from);
    }
    ints moved{1, 2, 3};
    const ints to = std::move(moved);
    moved = {4};
    CHECK(moved == ints{4});
    CHECK(to == ints{1, 2, 3});
}

TEST_CASE("small_vector: from and like vectors") {
    const std::vector<int> three{1, 2, 3};
    ints v = three;
    CHECK(v == three);
    const std::vector<int> back = v;
    CHECK(back == three);
    v.append(three);
    CHECK(v == std::vector<int>{1, 2, 3, 1, 2, 3});
    v.resize(2);
    CHECK(v == std::vector<int>{1, 2});
    v.resize(4, 9);
    CHECK(v == std::vector<int>{1, 2, 9, 9});
    const std::span<const int> seen = v;
    CHECK(seen.size() == 4);
    for (int i = 0; i < 20; ++i) v.push_back(v[1]); // one of its own
    CHECK(v.back() == 2);
}
