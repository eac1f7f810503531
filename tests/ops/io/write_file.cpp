// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/io/write_file.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

TEST_CASE("write_file: bytes, with the directories that lead to them") {
    const io_test::temporary_directory files;
    const graph_scope here{graph()};
    const placeholder<std::string> path("path"), bytes("bytes");
    const operation write = write_file(path, bytes);
    const session s;
    const std::string at = files / "a/b/f";
    s.run(write, feed(path, at), feed(bytes, "first"));
    s.run(write, feed(path, at), feed(bytes, std::string("a\0b", 3)));
    CHECK(detail::read_whole(file_system::real(), at, 100) == std::string("a\0b", 3));
    CHECK(file_system::real().list(files / "a/b") == std::vector<std::string>{"f"});
    CHECK_THROWS_WITH(s.run(write, feed(path, files / "a"), feed(bytes, "x")), contains(files / "a"));
    CHECK_THROWS_WITH(s.run(write, feed(path, at + "/below"), feed(bytes, "x")), contains(at));
    CHECK_THROWS_WITH(write_file(path, constant(1)), contains("the contents must be a string of rank 0"));
}
