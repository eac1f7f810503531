// SPDX-License-Identifier: BSD-3-Clause
#include <rill/graph/op/op_model.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_graph_op_model {

struct plain_op {
    static constexpr auto name = "TestPlain";
    static constexpr auto no_gradient = "it is a test's";
    shape_result shape(const dims& a, const dims& b) const { return rules::broadcast(a, b); }
};
struct telling_op {
    static constexpr auto name = "TestTelling", label = "tells";
    static constexpr int inputs = 1, version = 3, colocated_input = 0;
    static constexpr bool stateful = true, is_async = true;
    static constexpr auto no_gradient = "it is a test's";
    std::int64_t n = 0;
    static void fields(auto& op, auto& visit) { visit("n", op.n); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0], in[0]}; }
    op_cost cost(std::span<const tensor_type> in, std::span<const tensor_type>) const {
        return {static_cast<double>(n), static_cast<double>(in[0].bytes())};
    }
};
/// Reads its first input, and the shapes of all others.
struct shapes_op {
    static constexpr auto name = "TestShapes";
    static constexpr auto no_gradient = "it is a test's";
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0]}; }
    static input_list shape_only_inputs(int count) {
        input_list all;
        for (int i = 1; i < count; ++i) all.push_back(i);
        return all;
    }
};

TEST_CASE("op_model: what a struct leaves out has the usual meaning") {
    const auto op = make_op(plain_op{});
    CHECK(op->name() == "TestPlain");
    CHECK(op->label() == "test_plain");
    CHECK(op->version() == 1);
    CHECK(!op->stateful());
    CHECK(!op->is_async());
    CHECK(op->alias() == -1);
    CHECK(op->role() == op_role::ordinary);
    CHECK(op->ordering() == step_ordering::none);
    CHECK(op->resource_place().is_private());
    CHECK(op->shape_only_inputs(2).empty());
    CHECK(op->colocated_input() == -1);
    const std::vector<tensor_type> two{{dtype::float32, {2, 1}}, {dtype::float32, {3}}};
    CHECK(op->outputs({two}) == std::vector<tensor_type>{{dtype::float32, {2, 3}}});
    const std::vector<tensor_type> mixed{{dtype::float32, {2}}, {dtype::int32, {2}}}, one{{dtype::float32, {2}}};
    CHECK_THROWS_WITH(op->outputs({mixed}), contains("the dtypes differ"));
    CHECK_THROWS_AS(op->outputs({one}), invalid_argument);
    const op_cost cost = op->cost(two, one); // all that comes in and out
    CHECK(cost.flops == 0);
    CHECK(cost.bytes == 8 + 12 + 8);
}

TEST_CASE("op_model: what a struct says") {
    const auto op = make_op(telling_op{7});
    CHECK(op->label() == "tells");
    CHECK(op->version() == 3);
    CHECK(op->stateful());
    CHECK(op->is_async());
    const std::vector<tensor_type> in{{dtype::int32, {2}}};
    CHECK(op->outputs({in}).size() == 2);
    CHECK(op->equals(*make_op(telling_op{7})));
    CHECK(!op->equals(*make_op(telling_op{8})));
    CHECK(static_cast<const telling_op*>(op->attributes())->n == 7);
    CHECK(op->no_gradient_reason() == std::string("it is a test's"));
    CHECK(op->colocated_input() == 0);
    const op_cost cost = op->cost(in, in);
    CHECK(cost.flops == 7);
    CHECK(cost.bytes == 8);
}

TEST_CASE("op_model: inputs of which only the shape is read, and which therefore cost nothing") {
    const auto op = make_op(shapes_op{});
    CHECK(op->shape_only_inputs(1).empty());
    CHECK(op->shape_only_inputs(3) == input_list{1, 2});
    const std::vector<tensor_type> in{{dtype::float32, {2}}, {dtype::float32, {100}}}, out{{dtype::float32, {2}}};
    CHECK(op->cost(in, out).bytes == 16);
}

} // namespace test_graph_op_model
