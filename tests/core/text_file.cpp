// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/text_file.hpp>

#include <cerrno>
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

TEST_CASE("text_file: JSON escapes quotes, backslashes and control characters, errno values have their errors") {
    CHECK(detail::json_text("a\"\\\n\xc3\xa4") == "\"a\\\"\\\\\\u000a\xc3\xa4\"");
    CHECK_THROWS_AS(detail::refuse_file("open 'f'", ENOSPC), resource_exhausted);
    CHECK_THROWS_AS(detail::refuse_file("open 'f'", EEXIST), already_exists);
    CHECK_THROWS_AS(detail::refuse_file("open 'f'", EACCES), permission_denied);
    CHECK_THROWS_WITH(detail::refuse_file("open 'f'", ENOENT), contains("open 'f': "));
    CHECK_THROWS_AS(detail::refuse_file("open 'f'", 0), data_loss);
}
