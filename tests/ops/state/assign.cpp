// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/assign.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/runtime/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("assign: the output is the new value, a use the old one") {
    const graph g;
    const graph_scope here(g);
    variable<float, 2> w("w", {1.f, 2.f});
    const auto written = w.assign(w * 10.f);
    session s;
    s.run(global_variables_initializer());
    const auto [before, after] = s.run(std::tuple(w, written));
    CHECK(before(1) == 2.f);
    CHECK(after(1) == 20.f);
    CHECK(s.run(w)(0) == 10.f);
    s.run(w.assign(7.f)); // a number fills it
    CHECK(s.run(w)(1) == 7.f);
}

TEST_CASE("assign: another shape is refused at run time too") {
    const std::vector<tensor_type> types{{dtype::float32, dims{2}}, {dtype::float32, dims{3}}};
    CHECK_THROWS_AS(assign_op{}.outputs(types), invalid_argument);
    const std::vector<tensor_type> dtypes{{dtype::float32, dims{2}}, {dtype::int32, dims{2}}};
    CHECK_THROWS_AS(assign_op{}.outputs(dtypes), invalid_argument);
}
