// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/file_system.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

TEST_CASE("file_system: writes, reads, renames, lists and removes, errors name operation and path") {
    const io_test::temporary_directory here;
    auto& files = file_system::real();
    const std::string path = here / "a", other = here / "b";
    {
        const auto to = files.create(path);
        to->append("hello, ");
        to->append("world");
        to->write_at(0, "H");
        to->sync();
        to->close();
    }
    CHECK(detail::read_whole(files, path, 100) == "Hello, world");
    CHECK_THROWS_AS(detail::read_whole(files, path, 5), data_loss);
    const auto from = files.open(path);
    char two[2];
    CHECK(from->size() == 12);
    CHECK_THROWS_AS(from->read_at(11, two, 2), data_loss);
    files.make_directory(here / "d");
    files.make_directory(here / "d");
    files.rename(path, other);
    files.sync_directory(here.path());
    CHECK(files.list(here.path()) == std::vector<std::string>{"b", "d"});
    CHECK(files.exists(other));
    CHECK_FALSE(files.exists(path));
    CHECK_THROWS_AS(files.open(path), not_found);
    CHECK_THROWS_WITH(files.open(path), contains("open '" + path + "'"));
    CHECK_THROWS_AS(files.list(path), not_found);
    CHECK_THROWS_AS(files.make_directory(here / "x/y"), not_found);
    CHECK_THROWS_AS(files.remove(here.path()), error); // it is not empty
    detail::make_directories(files, here / "x/y/z");
    CHECK(files.exists(here / "x/y/z"));
}

TEST_CASE("file_system: a replaced file keeps its old bytes until the new ones are complete") {
    const io_test::temporary_directory here;
    auto& files = file_system::real();
    const std::string path = here / "f";
    detail::replace_file(files, path, [](output_file& to) { to.append("old"); });
    CHECK_THROWS_AS(detail::replace_file(files, path,
                                         [](output_file& to) {
                                             to.append("new");
                                             throw resource_exhausted("full");
                                         }),
                    resource_exhausted);
    CHECK(detail::read_whole(files, path, 100) == "old");
    CHECK(files.list(here.path()).size() == 1);
}

TEST_CASE("file_system: parts of paths") {
    CHECK(detail::directory_of("run/model") == "run");
    CHECK(detail::directory_of("model") == ".");
    CHECK(detail::directory_of("/model") == "/");
    CHECK(detail::base_of("run/model") == "model");
    CHECK(detail::joined_path(".", "a") == "a");
    CHECK(detail::joined_path("/", "a") == "/a");
    CHECK(detail::normalized_path("./run//./m") == "run/m");
    CHECK(detail::normalized_path("/run/../m/") == "/run/../m");
}
