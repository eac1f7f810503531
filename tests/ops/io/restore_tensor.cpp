// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/io/restore_tensor.hpp>

#include <rill/io/checkpoint.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/model_files.hpp"
#include "io/temporary.hpp"

using namespace rill;
using io_test::array_of;

TEST_CASE("restore_tensor: values of a checkpoint, whole or of open extents") {
    const io_test::temporary_directory files;
    detail::write_checkpoint_file(
        files / "m",
        {{"w", array_of<float>({2, 3}, {0, 1, 2, 3, 4, 5})}, {"words", array_of<std::string>({2}, {"one", "two"})}},
        {});
    const graph_scope here{graph()};
    const placeholder<std::string> path("path");
    const variable<float, 2, 3> w("w", 0.f);
    const auto assign = w.assign(restore_tensor<float, 2, 3>(path, "w"));
    const tensor<float, dyn, 3> open = restore_tensor<float, dyn, 3>(path, "w");
    const tensor<std::string, dyn> words = restore_tensor<std::string, dyn>(path, "words");
    const any_tensor untyped = restore_tensor(path, "w", {dtype::float32, dims::unknown()});
    const session s;
    s.run(assign, feed(path, files / "m"));
    CHECK(s.run(w)(1, 2) == 5);
    CHECK(s.run(open, feed(path, files / "m")).shape()[0] == 2);
    CHECK(s.run(words, feed(path, files / "m"))(1) == "two");
    CHECK(s.run(untyped, feed(path, files / "m")).shape() == dims{2, 3});
    CHECK_THROWS_WITH(s.run(restore_tensor<float, 3, 2>(path, "w"), feed(path, files / "m")),
                      contains("the tensor 'w' is float32 [2, 3], not float32 [3, 2]"));
    CHECK_THROWS_AS(s.run(restore_tensor<int, 2, 3>(path, "w"), feed(path, files / "m")), invalid_argument);
    CHECK_THROWS_WITH(s.run(restore_tensor<float>(path, "v"), feed(path, files / "m")), contains("no tensor 'v'"));
    CHECK_THROWS_AS(s.run(open, feed(path, files / "none")), not_found);
    CHECK_THROWS_AS(restore_tensor<float>(constant(1.f), "w"), invalid_argument);
}
