// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/text_file.hpp>

#include <cstdlib>

#include "catch.hpp"

using namespace rill;

TEST_CASE("text_file: a file that is not there is not found, by name") {
    CHECK_THROWS_AS(detail::read_file("/no/such/file", "reader"), not_found);
    CHECK_THROWS_WITH(detail::read_file("/no/such/file", "reader"), contains("reader: '/no/such/file'"));
    const char* const data = std::getenv("RILL_TEST_DATA");
    REQUIRE(data);
    CHECK(detail::read_file(std::string(data) + "/tensorflow.txt", "reader").size() > 100);
}

TEST_CASE("text_file: lines end by any of three ends") {
    std::string_view text = "one\ntwo\r\n\nthree\rfour";
    std::vector<std::string> lines;
    while (!text.empty()) lines.emplace_back(detail::take_line(text));
    CHECK(lines == std::vector<std::string>{"one", "two", "", "three", "four"});
}
