// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/any_variable.hpp>

#include <rill/ops/state/writes.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("any_variable: dtype, dims and initializer that only run time knows") {
    const graph g;
    const graph_scope here(g);
    const any_tensor w = any_variable("w", dtype::float64, dims{40, 60}, glorot_uniform()),
                     n = any_variable("n", dtype::int32, dims{2}, 7, {.trainable = false}),
                     yes = any_variable("yes", dtype::boolean, {}, ones());
    CHECK(type_of(w.end()) == tensor_type{dtype::float64, dims{40, 60}});
    CHECK(trainable_variables().size() == 2);
    const session s(g);
    s.run(global_variables_initializer());
    const any_array drawn = s.run(w);
    const auto values = drawn.elements<double>();
    CHECK(std::abs(values[5]) <= std::sqrt(6. / 100));
    CHECK(values[5] != values[6]);
    CHECK(s.run(n).elements<int>()[1] == 7);
    CHECK(s.run(yes).value<bool>());
    CHECK(s.run(assign(n, 9)).elements<int>()[0] == 9);
    const std::size_t nodes = g.size();
    CHECK_THROWS_WITH(any_variable("bad", dtype::int32, dims{2}, glorot_uniform()),
                      contains("'bad': the initializer makes no int32") && contains("any_variable.cpp"));
    CHECK_THROWS_WITH(any_variable("bad", dtype::float32, dims{dyn}, zeros()), contains("every extent must be known"));
    CHECK_THROWS_AS(any_variable("bad", dtype::float32, dims{2}, any_initializer()), invalid_argument);
    CHECK(g.size() == nodes);
}
