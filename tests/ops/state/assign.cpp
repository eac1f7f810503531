// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/assign.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/assign_add.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

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

TEST_CASE("assign: what fails on the way leaves the variable as it was, of any size") {
    const graph g;
    const graph_scope here(g);
    placeholder<int, 5000> by("by");
    variable<int, 5000> v("v", constant_value<int, 5000>(to_any_array<int>(std::vector<int>(5000, 1), dims{5000})));
    const tensor plain = v.assign(7 * v / by), added = v.assign_add(7 / by);
    session s;
    s.run(global_variables_initializer());
    std::vector<int> numbers(5000, 1);
    numbers.back() = 0;
    CHECK_THROWS_AS(s.run(plain, feed(by, numbers)), invalid_argument);
    CHECK_THROWS_AS(s.run(added, feed(by, numbers)), invalid_argument);
    CHECK(s.run(v)(0) == 1);
    numbers.back() = 2;
    CHECK(s.run(plain, feed(by, numbers))(4999) == 3);
    CHECK(s.run(added, feed(by, numbers))(0) == 14);
}
