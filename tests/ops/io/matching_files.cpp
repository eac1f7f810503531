// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/io/matching_files.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

TEST_CASE("matching_files: the paths that are there when the step runs, sorted") {
    const io_test::temporary_directory files;
    const graph_scope here{graph()};
    const placeholder<std::string> pattern("pattern");
    const tensor<std::string, dyn> found = matching_files(pattern);
    const session s;
    const auto names = [&](const std::string& of) {
        const auto all = s.run(found, feed(pattern, files / of));
        return std::vector<std::string>(all.begin(), all.end());
    };
    CHECK(names("*.csv").empty());
    for (const char* name : {"b.csv", "a.csv", "c.txt"}) file_system::real().create(files / name)->close();
    CHECK(names("*.csv") == std::vector<std::string>{files / "a.csv", files / "b.csv"});
    CHECK(names("[b-c].*") == std::vector<std::string>{files / "b.csv", files / "c.txt"});
    CHECK(names("c.txt") == std::vector<std::string>{files / "c.txt"});
    CHECK(names("d.txt").empty());
    CHECK(names("nowhere/*").empty());
    CHECK_THROWS_AS(matching_files(constant(1.f)), invalid_argument);
}
