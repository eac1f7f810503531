// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/split_v.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_split_v {

TEST_CASE("split_v: parts of given sizes, along an extent that the run knows") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float32, {dyn});
    const auto at = op_test::make_array<float>({6}, {0, 1, 2, 3, 4, 5});
    const std::vector<index_t> sizes{1, dyn, 0, 2};
    const auto some = split(x, sizes, -1);
    REQUIRE(some.size() == 4);
    CHECK(op_test::difference<float>(op_test::run(s, some[0], {x}, {at}), {1}, {0}) == "");
    CHECK(op_test::difference<float>(op_test::run(s, some[1], {x}, {at}), {3}, {1, 2, 3}) == "");
    CHECK(op_test::difference<float>(op_test::run(s, some[2], {x}, {at}), {0}, {}) == "");
    CHECK(op_test::difference<float>(op_test::run(s, some[3], {x}, {at}), {2}, {4, 5}) == "");
    const tensor five = constant({1, 2, 3, 4, 5});
    CHECK(s.run(split(five, std::vector<index_t>{2, 3}, 0)[1]).size() == 3);
    CHECK_THROWS_WITH(split(five, std::vector<index_t>{2, 2}, 0),
                      contains("split: the sizes don't make up the extent"));
    CHECK_THROWS_WITH(split(five, std::vector<index_t>{dyn, dyn}, 0), contains("split: at most one size may be dyn"));
    CHECK_THROWS_WITH(op_test::run(s, split(x, std::vector<index_t>{5, dyn, 4}, 0)[0], {x}, {at}),
                      contains("split: the sizes don't make up the extent") && contains("[6]"));
    CHECK_THROWS_WITH(split(five, std::vector<index_t>{-2, 7}, 0), contains("split: a size is negative"));
    CHECK_THROWS_WITH(split(five, std::vector<index_t>{}, 0), contains("split: a list of sizes is expected"));
    CHECK_THROWS_WITH(split(five, std::vector<index_t>{5}, 1), contains("split: the axis is out of range"));
}

TEST_CASE("split_v: gradient, to second order") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float64);
    const auto parts = split(x, {1, dyn}, 1);
    const auto at = op_test::point_array<double>({-1, 1}, {2, 3});
    op_test::gradient_check{s, {x}, {at}}.check(parts[0] * parts[1] * parts[1], 2);
}

TEST_CASE("split_v: made by name, its fields read back") {
    const op_ptr made =
        make_op(split_v_op{1, detail::owned_copy(to_any_array<index_t>(std::vector<index_t>{1, dyn}, dims{2}))});
    CHECK(make_op("SplitV", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_array_split_v
