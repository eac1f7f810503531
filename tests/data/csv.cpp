// SPDX-License-Identifier: BSD-3-Clause
#include <rill/data/csv.hpp>

#include <cstdio>

#include "catch.hpp"

using namespace rill;

namespace test_csv {

std::string message_of(const std::string& text) {
    try {
        parse_csv<float>(text, "t.csv");
    } catch (const invalid_argument& problem) {
        return problem.what();
    }
    return "";
}

} // namespace test_csv

TEST_CASE("csv: names, numbers, blanks and line ends") {
    const auto t = parse_csv<float>("a, b,c\r\n1,2.5,-3\n\n 4 ,5e1,6\n", "t.csv");
    CHECK(t.names == std::vector<std::string>{"a", "b", "c"});
    REQUIRE(t.values.shape(0) == 2);
    REQUIRE(t.values.shape(1) == 3);
    CHECK(t.values(0, 1) == 2.5f);
    CHECK(t.values(1, 0) == 4.f);
    CHECK(t.values(1, 1) == 50.f);
    const auto bare = parse_csv<int>("1;2\n3;4", "t.csv", {.header = false, .delimiter = ';'});
    CHECK(bare.names.empty());
    CHECK(bare.values(1, 1) == 4);
    CHECK(parse_csv<float>("", "t.csv").values.size() == 0);
}

TEST_CASE("csv: lines end in LF, CRLF or CR") {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
        const auto t = parse_csv<float>("a,b" + end + "1,2" + end + end + "3,4" + end, "t.csv");
        CHECK(t.names == std::vector<std::string>{"a", "b"});
        REQUIRE(t.values.shape(0) == 2);
        CHECK(t.values(1, 1) == 4.f);
        CHECK(test_csv::message_of("a,b" + end + end + "1,x").find("t.csv:3:2:") != std::string::npos);
    }
}

TEST_CASE("csv: a byte-order mark is no part of the first name, or number") {
    CHECK(parse_csv<int>("\xef\xbb\xbf"
                         "a,b\n1,2\n",
                         "t.csv")
              .names[0] == "a");
    CHECK(parse_csv<int>("\xef\xbb\xbf"
                         "7\n",
                         "t.csv", {.header = false})
              .values(0, 0) == 7);
}

TEST_CASE("csv: a delimiter that is a blank is not trimmed away") {
    const auto t = parse_csv<int>("a\t b \t\n1\t2\t3\n", "t.csv", {.delimiter = '\t'});
    CHECK(t.names == std::vector<std::string>{"a", "b", ""});
    CHECK(t.values(0, 2) == 3);
    CHECK(parse_csv<int>("\tb\n1\t2\n", "t.csv", {.delimiter = '\t'}).names == std::vector<std::string>{"", "b"});
    CHECK(parse_csv<int>("1 2\t\n", "t.csv", {.header = false, .delimiter = ' '}).values(0, 1) == 2);
    CHECK_THROWS_WITH(parse_csv<int>("\t2\n", "t.csv", {.header = false, .delimiter = '\t'}),
                      contains("t.csv:1:1: ''"));
}

TEST_CASE("csv: of a long field, messages show the beginning") {
    const std::string message = test_csv::message_of("a\n" + std::string(20'000'000, 'z') + "\n");
    CHECK(message.size() < 200);
    CHECK(message.find("t.csv:2:1: 'zzz") != std::string::npos);
    CHECK(message.find("20000000 bytes") != std::string::npos);
}

TEST_CASE("csv: errors say file, line and column") {
    CHECK(test_csv::message_of("a,b\n1,2\n3,x\n").find("t.csv:3:2: 'x'") != std::string::npos);
    CHECK(test_csv::message_of("a,b\n1,2,3\n").find("t.csv:2:3: 3 fields, 2 expected") != std::string::npos);
    CHECK(test_csv::message_of("a,b\n1\n").find("t.csv:2:2: 1 fields, 2 expected") != std::string::npos);
    CHECK(test_csv::message_of("a,b\n1,\n").find("t.csv:2:2: ''") != std::string::npos);
    CHECK(test_csv::message_of("a\n1.5garbage\n").find("t.csv:2:1") != std::string::npos);
    CHECK_THROWS_AS(read_csv<float>("no/such/file.csv"), not_found);
}

TEST_CASE("csv: a file") {
    const std::string path = "rill_test_csv.tmp";
    {
        std::FILE* f = std::fopen(path.c_str(), "wb");
        REQUIRE(f);
        std::fputs("x\n7\n", f);
        std::fclose(f);
    }
    CHECK(read_csv<double>(path).values(0, 0) == 7.0);
    std::remove(path.c_str());
}

TEST_CASE("csv: numbers as other programs write them") {
    const auto t = parse_csv<float>("+1,-2.5,1e-50,+.5,1E3\n", "t.csv", {.header = false});
    CHECK(std::vector<float>(t.values.begin(), t.values.end()) == std::vector<float>{1.f, -2.5f, 0.f, .5f, 1000.f});
    CHECK_THROWS_AS(parse_csv<float>("+-1\n", "t.csv", {.header = false}), invalid_argument);
    CHECK_THROWS_AS(parse_csv<float>("1e99\n", "t.csv", {.header = false}), invalid_argument);
}
