// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/hash_map.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "catch.hpp"

using rill::detail::hash_key;
using rill::detail::hash_map;
using rill::detail::hash_set;

TEST_CASE("hash_map: holds what a map of the standard library holds, in the order it came") {
    hash_map<int, std::string> ours;
    std::unordered_map<int, std::string> theirs;
    std::vector<int> order;
    for (int i = 0; i < 1000; ++i) {
        const int key = i * 7919 % 613 - 300;
        const auto [at, is_new] = ours.try_emplace(key, std::to_string(i));
        CHECK(is_new == theirs.try_emplace(key, std::to_string(i)).second);
        CHECK(at->second == theirs.at(key));
        if (is_new) order.push_back(key);
    }
    CHECK(ours.size() == theirs.size());
    std::size_t i = 0;
    for (const auto& [key, value] : ours) {
        CHECK(key == order[i++]);
        CHECK(value == theirs.at(key));
    }
    for (int key = -400; key < 400; ++key) {
        CHECK(ours.contains(key) == theirs.contains(key));
        CHECK((ours.find(key) != ours.end()) == ours.contains(key));
    }
    ours.clear();
    CHECK(ours.empty());
    CHECK(!ours.contains(order[0]));
}

TEST_CASE("hash_map: entries that a condition accepts are erased, the others stay in order") {
    hash_map<int, std::string> m;
    for (int key = 0; key < 100; ++key) m.try_emplace(key, std::to_string(key));
    erase_if(m, [](const auto& e) { return e.first % 3 == 0; });
    CHECK(m.size() == 66);
    for (int key = 0; key < 100; ++key) {
        CHECK(m.contains(key) == (key % 3 != 0));
        if (key % 3 != 0) CHECK(m.at(key) == std::to_string(key));
    }
    int last = 0;
    for (const auto& [key, value] : m) CHECK(std::exchange(last, key) < key);
    CHECK(m.try_emplace(3, "again").is_new);
    CHECK(m.at(3) == "again");
    erase_if(m, [](const auto&) { return true; });
    CHECK(m.empty());
    CHECK_FALSE(m.contains(3));
}

TEST_CASE("hash_map: an entry is made by asking for it, and changed in place") {
    CHECK(hash_map<int, int>{{1, 2}, {3, 4}, {1, 5}}.at(1) == 2);
    hash_map<std::string, std::unique_ptr<int>> m;
    CHECK(m["a"] == nullptr);
    m["a"] = std::make_unique<int>(1);
    CHECK(!m.try_emplace("a", std::make_unique<int>(2)).is_new);
    CHECK(*m.at("a") == 1);
    CHECK_THROWS_AS(m.at("b"), std::out_of_range);
    CHECK(m.find(std::string_view("a"))->second == m.at("a")); // no string is made
    auto other = std::move(m);
    CHECK(*other.at("a") == 1);
}

TEST_CASE("hash_map: keys are numbers, pointers, text, pairs, tuples and lists of such") {
    int here[2] = {};
    hash_map<std::tuple<const int*, std::string, std::vector<int>>, int> m;
    m[{&here[0], "x", {1, 2}}] = 1;
    m[{&here[1], "x", {1, 2}}] = 2;
    m[{&here[0], "y", {1, 2}}] = 3;
    m[{&here[0], "x", {2, 1}}] = 4;
    CHECK(m.size() == 4);
    CHECK(m.at({&here[1], "x", {1, 2}}) == 2);
    CHECK(m.at({&here[0], "x", {2, 1}}) == 4);
    CHECK(hash_key("text") == hash_key(std::string("text"))); // not where it lies
    CHECK(hash_key(std::pair(1, 2)) != hash_key(std::pair(2, 1)));
}

TEST_CASE("hash_map: a value whose making fails leaves the map as it was") {
    struct picky {
        explicit picky(bool good) {
            if (!good) throw std::runtime_error("no");
        }
    };
    hash_map<int, picky> m;
    CHECK_THROWS_AS(m.try_emplace(1, false), std::runtime_error);
    CHECK((m.empty() && !m.contains(1)));
    CHECK(m.try_emplace(1, true).is_new);
    CHECK(m.contains(1));
}

TEST_CASE("hash_set: says what is new, and keeps the order") {
    hash_set<std::pair<int, int>> s{{1, 2}};
    CHECK(!s.insert({1, 2}));
    CHECK(s.insert({0, 1}));
    CHECK(s.contains({0, 1}));
    CHECK(!s.contains({2, 1}));
    CHECK(s.size() == 2);
    CHECK(s.begin()->first == 1);
}
