// SPDX-License-Identifier: BSD-3-Clause
#include <rill/data/progress.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <rill/data/dataset.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_progress {

/// Calls f() with a file as the standard error stream.
template <class F> void with_standard_error(int file, const F& f) {
    std::fflush(stderr);
    const int before = dup(STDERR_FILENO);
    REQUIRE(before >= 0);
    REQUIRE(dup2(file, STDERR_FILENO) >= 0);
    f();
    std::fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
}

std::string read_all(std::FILE* file) {
    std::rewind(file);
    char text[1000];
    return {text, std::fread(text, 1, sizeof text, file)};
}

} // namespace test_progress

TEST_CASE("progress: draws items, rate and time left, and gives every item") {
    CHECK(detail::progress_line({.total = 40, .label = "read"}, 10, 5) ==
          "read [#######.......................] 10/40  2.00/s  15 s left");
    CHECK(detail::progress_line({}, 100, 2) == "100  50/s");
    std::FILE* const file = std::tmpfile();
    REQUIRE(file);
    int sum = 0;
    for (const int x : progress(std::vector<int>{1, 2, 3}, {.to = file})) sum += x;
    CHECK(sum == 6);
    const auto text = test_progress::read_all(file);
    std::fclose(file);
    CHECK_THAT(text, contains("3/3"));
    CHECK(text.ends_with("\n"));
}

TEST_CASE("progress: of a dataset, with a total or without") {
    const auto data = dataset::range(10).batch<4>();
    for (const std::int64_t total : {3, 0}) {
        std::FILE* const file = std::tmpfile();
        REQUIRE(file);
        std::vector<std::size_t> sizes;
        for (const auto& batch : progress(data, {.total = total, .label = "train", .to = file}))
            sizes.push_back(batch.size());
        CHECK(sizes == std::vector<std::size_t>{4, 4, 2});
        const auto text = test_progress::read_all(file);
        std::fclose(file);
        CHECK_THAT(text, contains(total == 3 ? "train [##############################] 3/3" : "train 3  "));
        CHECK(text.ends_with("\n"));
    }
}

TEST_CASE("progress: silent where the standard error stream is no terminal, and drawn on one") {
    std::FILE* const file = std::tmpfile();
    REQUIRE(file);
    std::int64_t sum = 0;
    const auto add = [&] {
        for (const auto x : progress(dataset::range(5), {.total = 5})) sum += x;
    };
    test_progress::with_standard_error(fileno(file), add);
    CHECK(sum == 10);
    CHECK(test_progress::read_all(file).empty());
    std::fclose(file);
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
        WARN("skipped: no terminal can be had");
        return;
    }
    const int screen = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    REQUIRE(screen >= 0);
    test_progress::with_standard_error(screen, add);
    char text[1000];
    const auto n = read(terminal, text, sizeof text);
    REQUIRE(n > 0);
    CHECK_THAT(std::string(text, static_cast<std::size_t>(n)), contains("5/5"));
    close(screen);
    close(terminal);
}
