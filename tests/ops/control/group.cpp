// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/group.hpp>

#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("group: runs everything it is made of, and gives no value") {
    const graph g;
    const graph_scope here(g);
    variable<float> a("a", 1.f), b("b", 2.f);
    const operation both = group(a.assign_add(1.f), b.assign_add(1.f));
    CHECK(both.name() == "group");
    CHECK(group(std::vector<operation>{}).node()->control_inputs.empty());
    const any_tensor untyped = a;
    CHECK(group(untyped, b).node()->control_inputs.size() == 2);
    CHECK(group(std::vector<any_tensor>{a, b}).node()->control_inputs.size() == 2);
    CHECK(group(std::vector<tensor<float>>{a}).node()->control_inputs.size() == 1);
    const std::vector<operation> writes{a.assign_add(1.f), both};
    CHECK(group(writes).node()->control_inputs.size() == 2);
    session s;
    s.run(global_variables_initializer());
    s.run(both);
    s.run(std::tuple(both));
    CHECK(s.run(a) == 3.f);
    CHECK(s.run(b) == 4.f);
}

TEST_CASE("group: made where its first operation was, and a null handle is refused") {
    const graph_scope here{graph()};
    variable<float> a("a", 1.f);
    const auto step = a.assign_add(1.f);
    CHECK(group(step).node()->where.line() == step.node()->where.line());
    CHECK_THROWS_WITH(group(step, operation()), contains("group: a null handle"));
    CHECK_THROWS_AS(group(std::vector{operation()}), failed_precondition);
}

TEST_CASE("group: no_op does nothing, after what it is told to wait for") {
    const graph_scope here{graph()};
    variable<float> a("a", 1.f);
    const session s;
    s.run(global_variables_initializer());
    const auto step = a.assign_add(1.f);
    const operation nothing = no_op();
    CHECK(nothing.name() == "no_op");
    s.run(nothing);
    CHECK(s.run(a) == 1.f);
    const control_dependencies after(step);
    s.run(no_op("later"));
    CHECK(s.run(a) == 2.f);
}

TEST_CASE("group: what nodes wait for may be a list of tensors, operations or edges") {
    const graph g;
    const graph_scope here(g);
    variable<float> a("a", 1.f), b("b", 2.f);
    const std::vector<operation> writes{a.assign_add(1.f), b.assign_add(1.f)};
    const std::vector<any_tensor> tensors{a, b};
    const control_dependencies after(writes);
    {
        const control_dependencies more(tensors);
        CHECK(no_op().node()->control_inputs.size() == 4);
        const control_dependencies the_same(g.collection(collections::variables));
        CHECK(no_op().node()->control_inputs.size() == 4);
        const control_dependencies nothing(std::vector<operation>{});
        CHECK(no_op().node()->control_inputs.size() == 4);
        const control_dependencies none;
        CHECK(no_op().node()->control_inputs.empty());
    }
    CHECK(no_op().node()->control_inputs.size() == 2);
    CHECK_THROWS_WITH(control_dependencies(std::vector{operation()}), contains("control_dependencies: a null handle"));
}
