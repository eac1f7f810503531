// SPDX-License-Identifier: BSD-3-Clause
#include <rill/data/progress.hpp>

#include <cstdio>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("progress: draws items, rate and time left, and gives every item") {
    CHECK(detail::progress_line({.total = 40, .label = "read"}, 10, 5) ==
          "read [#######.......................] 10/40  2.00/s  15 s left");
    CHECK(detail::progress_line({}, 100, 2) == "100  50/s");
    std::FILE* const file = std::tmpfile();
    REQUIRE(file);
    int sum = 0;
    for (const int x : progress(std::vector<int>{1, 2, 3}, {.to = file})) sum += x;
    CHECK(sum == 6);
    std::rewind(file);
    char text[200] = {};
    const auto n = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    CHECK(std::string(text, n).find("3/3") != std::string::npos);
    CHECK(text[n - 1] == '\n');
}
