// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/vector.hpp>

#include <memory>
#include <stdexcept>
#include <string>

#include "catch.hpp"

using rill::detail::vector;

namespace {

/// Counts those alive, and throws where it is asked to.
struct counted {
    static inline int alive = 0, copies_left = 1 << 20;
    std::string text;
    explicit counted(std::string t) : text(std::move(t)) { ++alive; }
    counted(const counted& o) : text(o.text) {
        if (copies_left-- == 0) throw std::runtime_error("no more copies");
        ++alive;
    }
    counted(counted&& o) noexcept : text(std::move(o.text)) { ++alive; }
    counted& operator=(const counted&) = default;
    counted& operator=(counted&&) noexcept = default;
    ~counted() { --alive; }
    friend bool operator==(const counted& a, const counted& b) { return a.text == b.text; }
};

vector<counted> numbered(int n) {
    vector<counted> v;
    for (int i = 0; i < n; ++i) v.emplace_back("number " + std::to_string(i) + ", too long to be kept in place");
    return v;
}

} // namespace

TEST_CASE("vector: elements are made once and destroyed once") {
    {
        auto v = numbered(100);
        CHECK(counted::alive == 100);
        auto copy = v;
        CHECK(copy == v);
        CHECK(counted::alive == 200);
        const auto moved = std::move(copy);
        CHECK(moved == v);
        CHECK(copy.empty());
        v = moved;
        v = *&v;
        CHECK(v == moved);
        v.resize(3, counted("x"));
        CHECK(v.size() == 3);
        v.pop_back();
        v.assign(5, v[0]); // one of its own
        CHECK(v.back() == moved.front());
        v.clear();
        CHECK(counted::alive == 100);
    }
    CHECK(counted::alive == 0);
}

TEST_CASE("vector: a value of its own is appended whole, wherever memory moves") {
    auto v = numbered(1);
    for (int i = 0; i < 50; ++i) {
        v.push_back(v.front());
        CHECK(v.back() == v.front());
    }
    vector<int> n{7};
    for (int i = 0; i < 50; ++i) n.push_back(n[0]);
    n.resize(200, n[0]);
    CHECK(n == vector<int>(200, 7));
}

TEST_CASE("vector: insert, erase, erase_if and append keep the order") {
    vector<int> v{1, 2, 4};
    v.insert(v.begin() + 2, 3);
    v.insert(v.end(), 5);
    v.insert(v.begin(), 0);
    CHECK(v == vector<int>{0, 1, 2, 3, 4, 5});
    erase_if(v, [](int i) { return i % 2 == 0; });
    CHECK(v == vector<int>{1, 3, 5});
    const int more[] = {6, 7};
    v.append(more);
    v.erase(v.begin(), v.begin());
    v.erase(v.begin() + 1, v.begin() + 3);
    CHECK(v == vector<int>{1, 6, 7});
    CHECK_FALSE(v == vector<int>{1, 6});
    v.erase(v.begin(), v.end());
    CHECK(v.empty());
    auto c = numbered(6);
    erase_if(c, [](const counted& x) { return x.text[7] != '4'; });
    REQUIRE(c.size() == 1);
    CHECK(counted::alive == 1);
}

TEST_CASE("vector: elements that can't be copied, and lists of lists") {
    vector<std::unique_ptr<int>> v;
    for (int i = 0; i < 20; ++i) v.push_back(std::make_unique<int>(i));
    v.resize(25);
    CHECK(*v[19] == 19);
    CHECK(v[24] == nullptr);
    auto taken = std::move(v);
    CHECK(*taken.front() == 0);
    vector<vector<int>> lists(3);
    lists[1].push_back(4);
    CHECK(lists == vector<vector<int>>{{}, {4}, {}});
}

TEST_CASE("vector: a copy that throws leaves what was there") {
    auto v = numbered(10);
    const auto before = v;
    counted::copies_left = 4;
    CHECK_THROWS_AS(v = before, std::runtime_error);
    counted::copies_left = 1 << 20;
    CHECK(v == before);
    counted::copies_left = 0;
    CHECK_THROWS_AS(v.push_back(v[0]), std::runtime_error);
    counted::copies_left = 1 << 20;
    CHECK(v == before);
}
