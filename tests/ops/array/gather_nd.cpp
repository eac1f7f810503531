// SPDX-License-Identifier: BSD-3-Clause
// Slices chosen by rows of indices: gather_nd, scatter_nd, the tensor_scatter ops, sparse_to_dense, and writes of variables.
#include <rill/ops/array/gather_nd.hpp>

#include <algorithm>

#include <rill/ops/array/scatter_nd.hpp>
#include <rill/ops/array/sparse_to_dense.hpp>
#include <rill/ops/array/tensor_scatter_sub.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_gather_nd {

template <class X, class I> using chosen = decltype(gather_nd(std::declval<const X&>(), std::declval<const I&>()));
static_assert(std::is_same_v<chosen<tensor<float, 5, 3, 2>, tensor<int, dyn, 2>>, tensor<float, dyn, 2>>);
static_assert(std::is_same_v<chosen<tensor<float, 5, 3>, tensor<std::int64_t, 4, 7, 2>>, tensor<float, 4, 7>>);
static_assert(std::is_same_v<chosen<tensor<float, 5, 3>, tensor<int, 0>>, tensor<float, 5, 3>>);
static_assert(std::is_same_v<chosen<tensor<float, 5, 3>, tensor<int, 4, dyn>>, any_tensor>);
static_assert(!ids_choose_slices<extents<5, 3>, extents<4, 3>> && !ids_choose_slices<extents<5>, extents<>>);
static_assert(updates_fit_nd<extents<5, 3>, extents<4, 1>, extents<4, 3>> &&
              !updates_fit_nd<extents<5, 3>, extents<4, 1>, extents<4, 2>>);

/// The flat places that rows of indices stand for, in plain C++.
template <class A> std::vector<std::size_t> places(const A& ids, std::vector<std::size_t> extents) {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < ids.shape(0); ++k) {
        std::size_t at = 0;
        for (std::size_t j = 0; j < ids.shape(1); ++j) at = at * extents[j] + static_cast<std::size_t>(ids(k, j));
        out.push_back(at);
    }
    return out;
}
const xt::xtensor<int, 2> twice{{1, 3}, {0, 0}, {1, 3}};
const xt::xtensor<std::int64_t, 2> rows{{1}, {0}, {1}, {1}};
const xt::xtensor<int, 2> triples{{1, 3, 0}, {0, 2, 1}};

TEST_CASE("gather_nd: values, and gradients to second order") {
    const auto check = [](const auto& ids, std::size_t inner) {
        const auto reference = [&](const auto& x) {
            const std::vector<std::size_t> extents{x.shape(0), x.shape(1), x.shape(2)};
            std::decay_t<decltype(x)> y(std::vector<std::size_t>{ids.shape(0), inner});
            const auto at = places(ids, extents);
            for (std::size_t k = 0; k < at.size(); ++k)
                for (std::size_t i = 0; i < inner; ++i) y(k, i) = x.storage()[at[k] * inner + i];
            return y;
        };
        op_test::node<double, 3>(
            [&](const auto& x) {
                return reshape(gather_nd(x, constant(ids)),
                               dims{static_cast<index_t>(ids.shape(0)), static_cast<index_t>(inner)});
            },
            reference, {{2, 4, 3}});
    };
    check(twice, 3);
    check(rows, 12);
    check(triples, 1);
    op_test::node<int, 2>([](const auto& x) { return gather_nd(x, constant({0, 1})); },
                          [](const auto& x) { return xt::xarray<int>(x(0, 1)); }, {{2, 2}});
    op_test::node<double, 2>(
        [](const auto& x) { return gather_nd(x * x, constant(twice)); },
        [](const auto& x) { return xt::xarray<double>{x(1, 3) * x(1, 3), x(0, 0) * x(0, 0), x(1, 3) * x(1, 3)}; },
        {{2, 4}});
}

TEST_CASE("tensor_scatter: values, and gradients to second order") {
    const auto check = [](const auto& f, const auto& join) {
        const auto reference = [&](const auto& x, const auto& u) {
            auto y = x;
            const auto at = places(twice, {x.shape(0), x.shape(1)});
            for (std::size_t k = 0; k < at.size(); ++k)
                for (std::size_t i = 0; i < x.shape(2); ++i) {
                    auto& old = y.storage()[at[k] * x.shape(2) + i];
                    old = join(old, u(k, i));
                }
            return y;
        };
        op_test::node<double, 3, 2>(f, reference, {{2, 4, 3}, {3, 3}});
        op_test::node<int, 3, 2>(f, reference, {{2, 4, 1}, {3, 1}});
    };
    check([](const auto& x, const auto& u) { return tensor_scatter_add(x, constant(twice), u); },
          [](auto a, auto b) { return a + b; });
    check([](const auto& x, const auto& u) { return tensor_scatter_sub(x, constant(twice), u); },
          [](auto a, auto b) { return a - b; });
    op_test::node<double, 1,
                  1>( // of ids that come once: those that come twice have TensorFlow's gradient, not the slope
        [](const auto& x, const auto& u) { return tensor_scatter_update(x * x, constant({{2}, {0}}), u * u); },
        [](const auto& x, const auto& u) {
            return xt::xarray<double>{u(1) * u(1), x(1) * x(1), u(0) * u(0), x(3) * x(3)};
        },
        {{4}, {2}});
    const session s;
    CHECK(op_test::list(s.run(tensor_scatter_update(constant({1, 2, 3}), constant({{1}, {1}}), constant({7, 8})))) ==
          std::vector<int>{1, 8, 3});
    CHECK(s.run(tensor_scatter_update(constant({"a", "b"}), constant({{1}}), constant({"c"})))(1) == "c");
}

TEST_CASE("scatter_nd: zeros with slices added") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor ids = constant({{0}, {2}, {0}});
    const tensor updates = constant({1.f, 2.f, 4.f});
    const auto y = scatter_nd<4>(ids, updates);
    static_assert(std::is_same_v<decltype(y), const tensor<float, 4>>);
    const std::vector<float> wanted{5, 0, 2, 0};
    CHECK(op_test::list(s.run(y)) == wanted);
    CHECK(op_test::difference<float>(s.run(scatter_nd(ids, updates, dims{4})), {4}, wanted) == "");
    placeholder<int, 1> extent("extent");
    CHECK(op_test::list(s.run(scatter_nd(ids, updates, extent), feed(extent, std::vector<int>{4}))) == wanted);
    const auto [d] = gradients(y * y, updates);
    CHECK(op_test::list(s.run(d)) == std::vector<float>{10, 4, 10});
    CHECK_THROWS_AS(scatter_nd(ids, updates, dims{-3}), invalid_argument);
}

TEST_CASE("sparse_to_dense: values at ids, a value elsewhere") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const variable<double, 2> values("values", {3., 4.});
    const variable<double> otherwise("otherwise", -1.);
    s.run(global_variables_initializer());
    const auto table = sparse_to_dense(constant({{0, 1}, {1, 0}}), dims{2, 2}, values, otherwise);
    CHECK(op_test::list(s.run(table)) == std::vector<double>{-1, 3, 4, -1});
    CHECK(op_test::list(s.run(sparse_to_dense(constant({2, 0}), dims{3}, values))) == std::vector<double>{4, 0, 3});
    const auto words = s.run(sparse_to_dense(constant({2, 0}), dims{3}, constant(std::vector<std::string>{"a", "b"})));
    CHECK(std::ranges::equal(words.elements<std::string>(), std::vector<std::string>{"b", "", "a"}));
    CHECK(op_test::list(s.run(sparse_to_dense(constant({2, 0}), dims{3}, otherwise, 7.))) ==
          std::vector<double>{-1, 7, -1}); // one value for all ids
    CHECK(op_test::difference<double>(
              s.run(sparse_to_dense(any_tensor(constant({2, 0})), dims{3}, any_tensor(otherwise))), {3}, {-1, 0, -1}) ==
          "");
    CHECK(op_test::difference<int>(s.run(sparse_to_dense(constant(1), dims{3}, constant({5}), 2)), {3}, {2, 5, 2}) ==
          "");
    const auto d =
        gradients(std::vector<any_tensor>{table}, {values, otherwise}, {.grad_ys = {constant({{1., 2.}, {3., 4.}})}});
    CHECK(op_test::list(s.run(d[0])) == std::vector<double>{2, 3});
    CHECK(op_test::list(s.run(d[1])) == std::vector<double>{5});
}

TEST_CASE("scatter_nd of variables, and products, quotients and extremes") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 2, 2> v("v", {{1.f, 2.f}, {3.f, 4.f}});
    const tensor at = constant({{1, 0}, {1, 0}});
    const tensor rows_at = constant({{1}});
    const tensor ids = constant({0});
    const session s(g);
    const auto after = [&](const auto& write) {
        s.run(global_variables_initializer());
        s.run(operation(write.node()));
        return op_test::list(s.run(v));
    };
    using floats = std::vector<float>;
    CHECK(after(v.scatter_nd_add(at, constant({10.f, 20.f}))) == floats{1, 2, 33, 4});
    CHECK(after(v.scatter_nd_sub(at, constant({1.f, 1.f}))) == floats{1, 2, 1, 4});
    CHECK(after(v.scatter_nd_update(rows_at, constant({{7.f, 8.f}}))) == floats{1, 2, 7, 8});
    CHECK(after(v.scatter_mul(ids, constant({{2.f, 3.f}}))) == floats{2, 6, 3, 4});
    CHECK(after(v.scatter_div(ids, constant({{2.f, 4.f}}))) == floats{.5f, .5f, 3, 4});
    CHECK(after(v.scatter_min(ids, constant({{0.f, 9.f}}))) == floats{0, 2, 3, 4});
    CHECK(after(v.scatter_max(ids, constant({{0.f, 9.f}}))) == floats{1, 9, 3, 4});
    const any_tensor any = v;
    CHECK(after(scatter_nd_add(any, at, constant({10.f, 20.f}))) == floats{1, 2, 33, 4});
    CHECK(after(scatter_max(any, ids, constant({{0.f, 9.f}}))) == floats{1, 9, 3, 4});
    const auto outside = v.scatter_nd_update(constant({{0, 0}, {0, 2}}), constant({5.f, 5.f}));
    s.run(global_variables_initializer());
    CHECK_THROWS_WITH(s.run(outside), contains("scatter_nd_update") &&
                                          contains("index 2 at [1, 1] of the ids is outside [0, 2), axis 1"));
    CHECK(op_test::list(s.run(v)) == floats{1, 2, 3, 4}); // nothing was written
}

TEST_CASE("gather_nd, scatter_nd, tensor_scatter, sparse_to_dense: ids of the host") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
    using floats = std::vector<float>;
    static_assert(std::is_same_v<decltype(gather_nd(x, {{0, 1}})), tensor<float, 1>>);
    static_assert(std::is_same_v<decltype(gather_nd(x, {{0}, {1}, {0}})), tensor<float, 3, 2>>);
    static_assert(std::is_same_v<decltype(gather_nd(x, {1, 0})), tensor<float>>);
    CHECK(op_test::list(s.run(gather_nd(x, {{0, 1}, {1, 0}}))) == floats{2, 3});
    CHECK(op_test::list(s.run(gather_nd(x, {{1}}))) == floats{3, 4});
    CHECK(s.run(gather_nd(x, {1, 0})) == 3.f);
    CHECK(op_test::difference<float>(s.run(any_tensor(gather_nd(any_tensor(x), xt::xtensor<int, 2>{{0, 1}}))), {1},
                                     {2}) == "");
    CHECK_THROWS_WITH(s.run(gather_nd(x, {{0, 2}})),
                      contains("index 2 at [0, 1] of the ids is outside [0, 2), axis 1"));
    CHECK(op_test::list(s.run(tensor_scatter_add(x, {{0, 1}, {1, 1}}, constant({10.f, 20.f})))) ==
          floats{1, 12, 3, 24});
    CHECK(op_test::list(s.run(tensor_scatter_sub(x, {{0}}, constant({{1.f, 2.f}})))) == floats{0, 0, 3, 4});
    CHECK(op_test::list(s.run(tensor_scatter_update(x, {{1}}, constant({{7.f, 8.f}})))) == floats{1, 2, 7, 8});
    CHECK(op_test::list(s.run(scatter_nd<3>({{2}, {0}}, constant({1.f, 2.f})))) == floats{2, 0, 1});
    CHECK(op_test::difference<float>(s.run(any_tensor(scatter_nd({{1}}, constant({5.f}), dims{2}))), {2}, {0, 5}) ==
          "");
    const auto dense = sparse_to_dense({{0, 1}, {1, 0}}, dims{2, 2}, constant({3.f, 4.f}), -1.f);
    CHECK(op_test::difference<float>(s.run(any_tensor(dense)), {2, 2}, {-1, 3, 4, -1}) == "");
    const variable<float, 2, 2> v("v", {{1.f, 2.f}, {3.f, 4.f}});
    s.run(global_variables_initializer());
    CHECK(op_test::list(s.run(v.scatter_nd_add({{1, 0}}, constant({10.f})))) == floats{1, 2, 13, 4});
    CHECK(op_test::list(s.run(v.scatter_nd_sub({{1, 0}}, constant({10.f})))) == floats{1, 2, 3, 4});
    const any_tensor written = scatter_nd_update(any_tensor(v), {{0}}, constant({{7.f, 8.f}}));
    CHECK(op_test::difference<float>(s.run(written), {2, 2}, {7, 8, 3, 4}) == "");
}

TEST_CASE("gather_nd: refusals") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<int, dyn, 2> ids("ids");
    const tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
    const auto y = gather_nd(x, ids);
    CHECK_THROWS_WITH(s.run(y, feed(ids, xt::xtensor<int, 2>{{1, 1}, {-1, 0}})),
                      contains("gather_nd: index -1 at [1, 0] of the ids is outside [0, 2), axis 0") &&
                          contains("gather_nd.cpp"));
    CHECK(s.run(y, feed(ids, xt::xtensor<int, 2>::from_shape({0, 2}))).size() == 0);
    CHECK_THROWS_WITH(gather_nd(any_tensor(x), constant({{0, 0, 0}})),
                      contains("gather_nd: a row of ids has more indices than the tensor has axes"));
    CHECK_THROWS_WITH(gather_nd(any_tensor(x), any_tensor(constant(1))), contains("the ids must have an axis"));
    CHECK_THROWS_WITH(gather_nd(x, any_tensor(x)), contains("the ids must be int32 or int64, not float32"));
    CHECK_THROWS_WITH(tensor_scatter_add(any_tensor(x), constant({{0}}), constant({1.f})),
                      contains("the updates must be of shape [1, 2]"));
}

} // namespace test_ops_array_gather_nd
