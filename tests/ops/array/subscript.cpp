// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/subscript.hpp>

#include <rill/core/array_text.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_array_subscript {

using x_type = tensor<float, 3, 4>;
template <class... I> using at = extents_of<decltype(std::declval<x_type>()(std::declval<I>()...))>;
static_assert(std::is_same_v<at<int>, extents<4>>);
static_assert(std::is_same_v<at<index_t, int>, extents<>>);
static_assert(std::is_same_v<at<slice_range>, extents<dyn, 4>>);
static_assert(std::is_same_v<at<slice_range, int>, extents<dyn>>);
static_assert(std::is_same_v<decltype(std::declval<x_type>()(all, 1)), tensor<float, 3>>);
static_assert(std::is_same_v<at<tensor<int, 2>>, extents<2, 4>>);
using whole = decltype(&all);
using added = decltype(&new_axis);
static_assert(std::is_same_v<at<whole, tensor<int, 2, 5>>, extents<3, 2, 5>>);
static_assert(std::is_same_v<at<added, whole, added, int>, extents<1, 3, 1>>);
static_assert(std::is_same_v<at<slice_range, added, tensor<int>>, extents<dyn, 1>>);
static_assert(std::is_same_v<decltype(std::declval<x_type>()(all, std::declval<any_tensor>())), any_tensor>);
static_assert(are_indices<int, added, tensor<int>> && !are_indices<tensor<int>, tensor<int>> && !are_indices<float>);

TEST_CASE("subscript: rows, elements and blocks, of tensors of known type or not") {
    const graph_scope here{graph()};
    const tensor x = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
    const session s;
    const auto text = [&](const auto& y) { return to_string(s.run(any_tensor(y))); };
    const auto both = [&](const auto&... i) {
        const std::string typed = text(x(i...));
        CHECK(text(any_tensor(x)(i...)) == typed);
        CHECK(text((x * 1.f)(i...)) == typed);
        return typed;
    };
    CHECK(both(1) == "float32 [3] {4, 5, 6}");
    CHECK(both(-2) == "float32 [3] {1, 2, 3}");
    CHECK(both(1, -1) == "float32 [] 6");
    CHECK(both(slice_range{}, 1) == "float32 [2] {2, 5}");
    CHECK(both(all, -1) == "float32 [2] {3, 6}");
    CHECK(both(all, slice_range{1}) == "float32 [2, 2] {{2, 3}, {5, 6}}");
    CHECK(both(-1, slice_range{0, 3, 2}) == "float32 [2] {4, 6}");
    CHECK(both(slice_range{1}) == "float32 [1, 3] {{4, 5, 6}}");
    CHECK(both(tensor(constant({1, 0}))) == "float32 [2, 3] {{4, 5, 6}, {1, 2, 3}}");
    const tensor ids = constant({2, 0, 2});
    CHECK(both(all, ids) == "float32 [2, 3] {{3, 1, 3}, {6, 4, 6}}");
    CHECK(both(1, ids) == "float32 [3] {6, 4, 6}");
    CHECK(both(slice_range{1, 2}, tensor(constant(1))) == "float32 [1] {5}");
    CHECK(both(new_axis, -1) == "float32 [1, 3] {{4, 5, 6}}");
    CHECK(both(all, new_axis, slice_range{2, slice_range::all, -2}) == "float32 [2, 1, 2] {{{3, 1}}, {{6, 4}}}");
    CHECK(both(0, new_axis, ids, new_axis) == "float32 [1, 3, 1] {{{3}, {1}, {3}}}");
    const auto [by_column] = gradients(reduce_sum(x(all, ids) * x(all, ids)), x);
    CHECK(text(by_column) == "float32 [2, 3] {{2, 0, 12}, {8, 0, 24}}");
    CHECK_THROWS_WITH(s.run(x(all, tensor(constant({3})))), contains("id 3 at [0] is outside [0, 3)"));
    const auto [d] = gradients(reduce_sum(x(1) * x(0, 1)), x);
    CHECK(text(d) == "float32 [2, 3] {{0, 15, 0}, {2, 2, 2}}");
}

TEST_CASE("subscript: what is outside is refused") {
    const graph_scope here{graph()};
    const tensor x = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
    CHECK_THROWS_WITH(x(2), contains("x(i): index 2 is outside axis 0 of float32 [2, 3]"));
    CHECK_THROWS_WITH(x(0, -4), contains("x(i): index -4 is outside axis 1 of float32 [2, 3]"));
    CHECK_THROWS_AS(any_tensor(x)(0, 0, 0), invalid_argument);
    CHECK_THROWS_WITH(any_tensor()(0), contains("x(i)"));
}

} // namespace test_ops_array_subscript
