// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/serialization/bounded_archive.hpp>

#include <limits>

#include "catch.hpp"

using namespace rill;

namespace test_bounded_archive {

inline std::string sized(std::uint64_t size, const std::string& rest = {}) {
    return std::string(reinterpret_cast<const char*>(&size), sizeof size) + rest;
}

} // namespace test_bounded_archive

TEST_CASE("bounded_archive: numbers, text and lists, and back") {
    detail::bounded_output to;
    std::vector<std::uint32_t> numbers{1, 2, 3};
    std::vector<std::string> texts{"a", std::string("b\0c", 3), ""};
    auto n = detail::list_of<4>(numbers);
    auto t = detail::list_of<8>(texts);
    to(std::int8_t(-5), 2.5, std::string("hello"), n, t, std::pair<int, float>(3, 4.f));
    detail::bounded_input from(to.bytes);
    std::int8_t small = 0;
    double number = 0;
    std::string text;
    std::vector<std::uint32_t> numbers_back{9};
    std::vector<std::string> texts_back;
    std::pair<int, float> pair;
    auto nb = detail::list_of<4>(numbers_back);
    auto tb = detail::list_of<8>(texts_back);
    from(small, number, text, nb, tb, pair);
    CHECK(small == -5);
    CHECK(number == 2.5);
    CHECK(text == "hello");
    CHECK(numbers_back == numbers);
    CHECK(texts_back == texts);
    CHECK(pair == std::pair<int, float>(3, 4.f));
    CHECK(from.left() == 0);
    CHECK_THROWS_AS(from(small), data_loss);
}

TEST_CASE("bounded_archive: sizes that promise more than there is make no room") {
    using namespace test_bounded_archive;
    for (const std::uint64_t size : {std::uint64_t(3), std::uint64_t(1) << 30, std::uint64_t(1) << 62,
                                     std::numeric_limits<std::uint64_t>::max()}) {
        const std::string bytes = sized(size, "ab");
        std::string text;
        detail::bounded_input one(bytes);
        CHECK_THROWS_AS(one(text), data_loss);
        CHECK(text.capacity() < 100);
        std::vector<std::uint64_t> numbers;
        auto list = detail::list_of<8>(numbers);
        detail::bounded_input two(bytes);
        CHECK_THROWS_AS(two(list), data_loss);
        CHECK(numbers.capacity() == 0);
    }
}

TEST_CASE("bounded_archive: no more elements than the budget, in all lists together") {
    using namespace test_bounded_archive;
    const std::string bytes = sized(3, "abc") + sized(2, "de");
    std::vector<std::int8_t> a, b;
    auto la = detail::list_of<1>(a), lb = detail::list_of<1>(b);
    detail::bounded_input enough(bytes, 5);
    CHECK_NOTHROW(enough(la, lb));
    detail::bounded_input few(bytes, 4);
    CHECK_THROWS_AS(few(la, lb), data_loss);
}
