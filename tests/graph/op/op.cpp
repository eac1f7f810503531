// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/op.hpp>

#include <rill/core/error.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_op {

/// As little as an op can say: one shape rule for one input.
struct plain {
    static constexpr auto name = "PlainOp";
    static constexpr auto no_gradient = "nobody needs it";
    shape_result shape(const dims& a) const { return {a}; }
};

/// Two inputs, attributes of every kind, and everything that may be said besides.
struct rich {
    static constexpr auto name = "Rich", label = "wealthy";
    static constexpr bool stateful = true, initialises = true, replaces_variables = true;
    static constexpr int alias = 1, version = 3, reads_slices_of = 1;
    static constexpr auto role = op_role::variable;
    int steps = 1;
    double rate = 0.5;
    bool flag = false;
    std::string text;
    dims extent;
    axis_list axes;
    std::uint64_t seed = 7;

    static void fields(auto& op, auto& visit) {
        visit("steps", op.steps);
        visit("rate", op.rate);
        visit("flag", op.flag);
        visit("text", op.text);
        visit("extent", op.extent);
        visit("axes", op.axes);
        visit("seed", op.seed);
    }
    input_list writes() const { return {0, 2}; }
    input_list host_inputs() const { return {1}; }
    shape_result shape(const dims& a, const dims& b) const { return rules::broadcast(a, b); }
    std::vector<endpoint> gradient(const gradient_request&) const { return {endpoint(), endpoint()}; }
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type> out) const { return out[0].type; }
    bool in_place() const { return true; }
};

} // namespace test_op

TEST_CASE("op: what a struct leaves out gets the usual meaning") {
    const op_ptr o = make_op(test_op::plain{});
    CHECK(o->name() == "PlainOp");
    CHECK(o->kernel_name() == "PlainOp");
    CHECK(o->label() == "plain_op");
    CHECK_FALSE(o->stateful());
    CHECK(o->alias() == -1);
    CHECK(o->writes().empty());
    CHECK(o->host_inputs().empty());
    CHECK(o->version() == 1);
    CHECK_FALSE(o->initialises());
    CHECK_FALSE(o->replaces_variables());
    CHECK(o->reads_slices_of() == -1);
    CHECK(o->role() == op_role::ordinary);
    CHECK(o->constant() == nullptr);
    CHECK(o->seed() == 0);
    CHECK_FALSE(o->in_place());
    CHECK(std::string(o->no_gradient_reason()) == "nobody needs it");
    const std::vector<tensor_type> in{{dtype::int32, dims{2, dyn}}};
    CHECK(o->outputs({in}) == in);
    CHECK(o->kernel_type(in, in) == dtype::int32);
    CHECK(o->kernel_type({}, in) == dtype::int32); // without inputs, the output's
}

TEST_CASE("op: what a struct says is passed on") {
    const op_ptr o = make_op(test_op::rich{});
    CHECK(o->label() == "wealthy");
    CHECK(o->stateful());
    CHECK(o->alias() == 1);
    CHECK(o->writes() == input_list{0, 2});
    CHECK(o->host_inputs() == input_list{1});
    CHECK(o->version() == 3);
    CHECK(o->initialises());
    CHECK(o->replaces_variables());
    CHECK(o->reads_slices_of() == 1);
    CHECK(o->role() == op_role::variable);
    CHECK(o->seed() == 7);
    CHECK(o->in_place());
    CHECK(o->no_gradient_reason() == nullptr);
}

TEST_CASE("op: shape rules that break, and operands of two dtypes, are invalid_argument") {
    const op_ptr o = make_op(test_op::rich{});
    const std::vector<tensor_type> good{{dtype::float32, dims{2, 1}}, {dtype::float32, dims{3}}},
        shapes{{dtype::float32, dims{2}}, {dtype::float32, dims{3}}},
        types{{dtype::float32, dims{2}}, {dtype::int32, dims{2}}};
    CHECK(o->outputs({good}).at(0).shape == dims{2, 3});
    CHECK_THROWS_AS(o->outputs({shapes}), invalid_argument);
    CHECK_THROWS_WITH(o->outputs({shapes}), contains("do not broadcast"));
    CHECK_THROWS_AS(o->outputs({types}), invalid_argument);
    CHECK_THROWS_WITH(o->outputs({types}), contains("float32 [2]") && contains("int32 [2]"));
}

TEST_CASE("op: equal ops hash alike, each attribute counts") {
    using test_op::rich;
    const auto with = [](auto change) {
        rich r;
        change(r);
        return make_op(r);
    };
    const op_ptr base = make_op(rich{});
    CHECK(base->equals(*make_op(rich{})));
    CHECK(base->hash() == make_op(rich{})->hash());
    for (const auto& other : {with([](rich& r) { r.steps = 2; }), with([](rich& r) { r.rate = -0.5; }),
                              with([](rich& r) { r.flag = true; }), with([](rich& r) { r.text = "x"; }),
                              with([](rich& r) { r.extent = dims{0}; }), with([](rich& r) { r.axes = {0}; }),
                              with([](rich& r) { r.seed = 8; })}) {
        CHECK_FALSE(base->equals(*other));
        CHECK(base->hash() != other->hash());
    }
    CHECK_FALSE(base->equals(*make_op(test_op::plain{})));
    CHECK(base->hash() != make_op(test_op::plain{})->hash());
}
