// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/top_k.hpp>

#include <rill/ops/array/take_along.hpp>

#include <algorithm>
#include <numeric>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_nn_top_k {

TEST_CASE("top_k: values, places and gradients against a plain sort") {
    const auto reference = [](std::size_t k) {
        return [k](const auto& x) {
            using X = std::decay_t<decltype(x)>;
            X y(std::vector<std::size_t>{x.shape(0), k});
            for (std::size_t i = 0; i < x.shape(0); ++i) {
                std::vector<typename X::value_type> row;
                for (std::size_t j = 0; j < x.shape(1); ++j) row.push_back(x(i, j));
                std::ranges::sort(row, std::greater<>());
                for (std::size_t j = 0; j < k; ++j) y(i, j) = row[j];
            }
            return y;
        };
    };
    op_test::node<double, 2>([](const auto& x) { return std::get<0>(top_k<3>(x)); }, reference(3), {{4, 7}});
    op_test::node<double, 2>([](const auto& x) { return std::get<0>(top_k<1>(x)); }, reference(1), {{2, 1}});
    op_test::node<int, 2>([](const auto& x) { return std::get<0>(top_k<0>(x)); }, reference(0), {{2, 3}});
    op_test::node<int, 2>([](const auto& x) { return std::get<0>(top_k<5>(x)); }, reference(5), {{3, 5}});
}

TEST_CASE("top_k: of equals the first, NaN first, and places") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const tensor x = constant({{1.f, 3.f, 3.f, 2.f}, {nan, 5.f, nan, 7.f}});
    const auto [values, ids] = top_k<3>(x);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(ids)>, tensor<int, 2, 3>>);
    CHECK(op_test::difference<int>(s.run(ids), {2, 3}, {1, 2, 3, 0, 2, 3}) == "");
    CHECK(op_test::difference<float>(s.run(values), {2, 3}, {3, 3, 2, nan, nan, 7}) == "");
    const auto [few, places] = top_k(any_tensor(x), 2);
    CHECK(few.static_shape() == dims{2, 2});
    CHECK(places.dtype() == dtype::int32);
    CHECK_THROWS_WITH(top_k(any_tensor(x), 5),
                      contains("top_k: the last axis has fewer elements than k") && contains("[2, 4]"));
    CHECK_THROWS_WITH(top_k(any_tensor(x), -1), contains("k must not be negative"));
    CHECK_THROWS_WITH(top_k(any_tensor(constant(1.f)), 1), contains("a scalar has no last axis"));
}

TEST_CASE("in_top_k: counts the larger ones") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({{0.1f, 0.3f, 0.2f}, {0.5f, 0.5f, 0.f}});
    const auto in = [&](int a, int b, index_t k) { return op_test::list(s.run(in_top_k(x, constant({a, b}), k))); };
    CHECK(in(2, 1, 1) == std::vector<bool>{false, true});
    CHECK(in(2, 2, 2) == std::vector<bool>{true, false});
    CHECK(op_test::list(s.run(in_top_k(x, {2, 1}, 1))) == std::vector<bool>{false, true}); // targets of the host
    CHECK(op_test::list(s.run(take_along(x, {{2}, {0}}))) == std::vector<float>{0.2f, 0.5f});
}

TEST_CASE("in_top_k: false for targets out of range and predictions that are not finite, as in TensorFlow") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const placeholder<float, dyn, 3> x("x");
    const placeholder<int, dyn> ids("ids");
    const xt::xtensor<float, 2> rows{{1, 2, 3},   {1, 2, 3},    {nan, 2, 3}, {1, nan, 3},
                                     {inf, 2, 3}, {1, 2, -inf}, {1, 2, 3}};
    const std::vector<int> targets{3, -1, 0, 2, 0, 1, 2};
    const std::vector<bool> wanted{false, false, false, false, false, false, true};
    CHECK(op_test::list(s.run(in_top_k(x, ids, 3), feed(x, rows), feed(ids, targets))) == wanted);
    const any_array untyped =
        s.run(any_tensor(in_top_k(any_tensor(x), any_tensor(ids), 3)), feed(x, rows), feed(ids, targets));
    CHECK(untyped.shape() == dims{7});
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(untyped.elements<bool>()[i] == wanted[i]);
    const tensor whole = constant({{1, 2}, {4, 3}});
    CHECK(op_test::list(s.run(in_top_k(whole, constant({0, 0}), 1))) == std::vector<bool>{false, true});
}

TEST_CASE("top_k, in_top_k: no rows, and a k that is too large at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, dyn, dyn> x("x");
    const placeholder<int, dyn> ids("ids");
    const auto [values, places] = top_k(x, 2);
    const xt::xtensor<float, 2> none = xt::xtensor<float, 2>::from_shape({0, 3});
    CHECK(s.run(values, feed(x, none)).shape() == dims{0, 2});
    CHECK(s.run(places, feed(x, none)).shape() == dims{0, 2});
    CHECK(s.run(in_top_k(x, ids, 1), feed(x, none), feed(ids, std::vector<int>{})).shape(0) == 0);
    CHECK_THROWS_WITH(s.run(values, feed(x, xt::xtensor<float, 2>({2, 1}, 1.f))),
                      contains("top_k: the last axis has fewer elements than k") && contains("[2, 1]") &&
                          contains("node 'top_k") && contains("top_k.cpp"));
}

TEST_CASE("take_along: values and gradients, to second order") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, 2, 4> x("x");
    const tensor ids = constant({{3, 0, 3}, {1, 1, 2}});
    const tensor y = take_along(x, ids);
    static_assert(std::is_same_v<decltype(y), const tensor<double, 2, 3>>);
    const std::vector<any_array> at{op_test::make_array<double>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})};
    CHECK(op_test::difference<double>(op_test::run(s, y, {x}, at), {2, 3}, {4, 1, 4, 6, 6, 7}) == "");
    op_test::gradient_check{s, {x}, at}.check(take_along(x * x * x, ids), 2);
    CHECK_THROWS_WITH(take_along(any_tensor(x), constant({1, 2})),
                      contains("take_along") && contains("as many dimensions"));
    CHECK_THROWS_WITH(s.run(take_along(x, constant({{4}, {0}})), feed(x, xt::xtensor<double, 2>({2, 4}, 0.))),
                      contains("id 4 at [0, 0] is outside [0, 4)"));
}

} // namespace test_ops_nn_top_k
