// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/io/save_tensors.hpp>

#include <rill/io/checkpoint.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

TEST_CASE("save_tensors: a checkpoint of values that a step computes") {
    const io_test::temporary_directory files;
    const graph_scope here{graph()};
    const placeholder<std::string> path("path");
    const variable<float, 2> w("w", {1.f, 2.f});
    const tensor<float, 2> twice = w * 2.f;
    const operation save = save_tensors(path, {{"w", w}, {"twice", twice}, {"words", constant({"one", "two"})}});
    const session s;
    s.run(w.initializer());
    s.run(save, feed(path, files / "run/m.ckpt"));
    const checkpoint_reader from(files / "run/m.ckpt");
    CHECK(from.read_all().size() == 3);
    CHECK(from.read("twice").elements<float>()[1] == 4);
    CHECK(from.read("words").elements<std::string>()[1] == "two");
    s.run(w.assign(w + 1.f));
    s.run(save, feed(path, files / "run/m.ckpt"));
    CHECK(checkpoint_reader(files / "run/m.ckpt").read("w").elements<float>()[0] == 2);
    const operation twins = save_tensors(path, {{"w", w}, {"w", twice}});
    CHECK_THROWS_WITH(s.run(twins, feed(path, files / "x")), contains("tensor 'w': the name is taken"));
    CHECK_FALSE(file_system::real().exists(files / "x"));
    CHECK_THROWS_AS(save_tensors(w, {{"w", w}}), invalid_argument);
}
