// SPDX-License-Identifier: BSD-3-Clause
#include <rill/summary/write_dot.hpp>

#include <algorithm>

#include <rill/io/file_system.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>

#include "catch.hpp"
#include "io/temporary.hpp"

using namespace rill;

TEST_CASE("write_dot: nodes in the boxes of their scopes, edges with types, control inputs dashed") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn> x("in/x");
    tensor<float, dyn> y;
    {
        const name_scope scope("layer");
        const control_dependencies after(operation(x.node()));
        y = x + 1.f;
    }
    const auto text = to_dot(g);
    CHECK_THAT(text, contains("subgraph \"cluster_in\"") && contains("\"in/x\" [label=\"x\\nPlaceholder\"]") &&
                         contains("\"in/x\" -> \"" + y.node()->name + "\" [label=\"float32 [?]\"]") &&
                         contains("[style=dashed]"));
    CHECK(std::count(text.begin(), text.end(), '{') == std::count(text.begin(), text.end(), '}'));
    const io_test::temporary_directory files;
    write_dot(g, files / "g.dot");
    CHECK(detail::read_whole(file_system::real(), files / "g.dot", 1 << 20) == text);
    CHECK_THROWS_AS(write_dot(g, files / "no/g.dot"), not_found);
}
