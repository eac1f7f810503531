// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/one_hot.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_one_hot {

template <class X> using ten = decltype(one_hot<10>(std::declval<const X&>()));
static_assert(std::is_same_v<ten<tensor<int, dyn>>, tensor<float, dyn, 10>>);
static_assert(std::is_same_v<ten<tensor<std::int64_t>>, tensor<float, 10>>);
static_assert(std::is_same_v<ten<any_tensor>, any_tensor>);
static_assert(
    std::is_same_v<decltype(one_hot<3, bool>(std::declval<const tensor<int, 2, 2>&>())), tensor<bool, 2, 2, 3>>);

static_assert(
    std::is_same_v<decltype(one_hot<3, float, 1>(std::declval<const tensor<int, 2, 5>&>())), tensor<float, 2, 3, 5>>);
static_assert(!axis_of_result<extents<2, 5>, 3> && axis_of_result<extents<2, 5>, -3>);

template <class T> xt::xarray<T> reference(const xt::xarray<int>& ids, int depth, T on, T off) {
    xt::xarray<T> out(std::vector<std::size_t>{ids.shape(0), static_cast<std::size_t>(depth)});
    for (std::size_t i = 0; i < ids.shape(0); ++i)
        for (int k = 0; k < depth; ++k) out(i, static_cast<std::size_t>(k)) = ids(i) == k ? on : off;
    return out;
}

TEST_CASE("one_hot: values, with ids outside") {
    op_test::node<int, 1>([](const auto& x) { return one_hot<10>(x); },
                          [](const auto& x) { return reference<float>(x, 10, 1, 0); }, {{40}}, {.in = {{-3, 14}}});
    op_test::node<int, 1>([](const auto& x) { return one_hot<4, double>(x, 5., -1.); },
                          [](const auto& x) { return reference<double>(x, 4, 5, -1); }, {{7}}, {.in = {{0, 4}}});
    op_test::node<int, 1>([](const auto& x) { return one_hot(x, 3); },
                          [](const auto& x) { return reference<float>(x, 3, 1, 0); }, {{7}}, {.in = {{0, 3}}});
    const auto first = [](const auto& x) { return xt::xarray<float>(xt::transpose(reference<float>(x, 4, 1, 0))); };
    op_test::node<int, 1>([](const auto& x) { return one_hot<4, float, 0>(x); }, first, {{7}}, {.in = {{-1, 5}}});
    op_test::node<int, 1>([](const auto& x) { return one_hot(x, 4, 1.f, 0.f, -2); }, first, {{7}}, {.in = {{-1, 5}}});
    const graph g;
    const graph_scope here(g);
    const session s(g);
    CHECK(s.run(one_hot<2, bool>(constant(std::int64_t(1))))(1));
    CHECK(s.run(one_hot<2, std::string>(constant(1), "yes", "no"))(0) == "no");
    CHECK(s.run(one_hot<0>(constant({1, 2}))).size() == 0);
    CHECK(op_test::list(s.run(one_hot<3>({0, 2}))) == std::vector<float>{1, 0, 0, 0, 0, 1}); // ids of the host
    CHECK(op_test::list(s.run(one_hot<3>(1))) == std::vector<float>{0, 1, 0});
    CHECK(op_test::list(s.run(one_hot({1}, 2))) == std::vector<float>{0, 1});
}

TEST_CASE("one_hot: refusals") {
    const graph g;
    const graph_scope here(g);
    CHECK_THROWS_WITH(one_hot(tensor(constant({1})), -2), contains("one_hot: the depth is negative"));
    CHECK_THROWS_WITH(one_hot<3>(any_tensor(tensor(constant({1.f})))),
                      contains("one_hot: the ids must be int32 or int64"));
    CHECK_THROWS_WITH(one_hot(tensor(constant({1})), 2, 1.f, 0.f, 2), contains("one_hot: the axis is out of range"));
    CHECK_THROWS_WITH(one_hot_op{}.outputs(std::vector<tensor_type>{{dtype::int32, {3}}}),
                      contains("two values are expected"));
    const any_tensor deep = any_placeholder("deep", dtype::int32, {1, 1, 1, 1, 1, 1, 1, 1});
    CHECK_THROWS_WITH(one_hot<3>(deep), contains("one_hot: the result would have more than 8 dimensions"));
}

} // namespace test_ops_array_one_hot
