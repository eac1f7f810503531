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
    static constexpr int inputs = 1, version = 3;
    static constexpr bool stateful = true, is_async = true;
    static constexpr auto no_gradient = "it is a test's";
    std::int64_t n = 0;
    static void fields(auto& op, auto& visit) { visit("n", op.n); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const { return {in[0], in[0]}; }
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
    const std::vector<tensor_type> two{{dtype::float32, {2, 1}}, {dtype::float32, {3}}};
    CHECK(op->outputs({two}) == std::vector<tensor_type>{{dtype::float32, {2, 3}}});
    const std::vector<tensor_type> mixed{{dtype::float32, {2}}, {dtype::int32, {2}}}, one{{dtype::float32, {2}}};
    CHECK_THROWS_WITH(op->outputs({mixed}), contains("the dtypes differ"));
    CHECK_THROWS_AS(op->outputs({one}), invalid_argument);
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
}

} // namespace test_graph_op_model
