// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/io/read_file.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

TEST_CASE("read_file: the bytes that a file has when the step runs") {
    const io_test::temporary_directory files;
    const graph_scope here{graph()};
    const placeholder<std::string> path("path");
    const tensor<std::string> bytes = read_file(path);
    const session s;
    const auto write = [&](const std::string& text) {
        detail::replace_file(file_system::real(), files / "f", [&](output_file& to) { to.append(text); });
    };
    const std::string odd("a\0\n\xff", 4);
    write(odd);
    CHECK(s.run(bytes, feed(path, files / "f")) == odd);
    write("");
    CHECK(s.run(bytes, feed(path, files / "f")).empty());
    CHECK_THROWS_WITH(s.run(bytes, feed(path, files / "none")), contains("open '" + (files / "none")));
    CHECK_THROWS_AS(s.run(bytes, feed(path, files.path())), data_loss); // a directory
    CHECK_THROWS_WITH(read_file(constant(1.f)), contains("the path must be a string of rank 0"));
    CHECK_THROWS_AS(read_file(constant({"a", "b"})), invalid_argument);
}
