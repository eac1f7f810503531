// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce.hpp>

#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_all.hpp>
#include <rill/ops/math/reduce_any.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_min.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>

#include "ops/harness.hpp"

using namespace rill;

// the reductions' own tests check values and gradients; here is what they share

TEST_CASE("reduce: axes are checked by types") {
    using x = extents<dyn, 3, 4>;
    STATIC_REQUIRE(axes_exist<x>);
    STATIC_REQUIRE(axes_exist<x, 0, 2>);
    STATIC_REQUIRE(axes_exist<x, -1, -3>);
    STATIC_REQUIRE_FALSE(axes_exist<x, 3>);
    STATIC_REQUIRE_FALSE(axes_exist<x, -4>);
    STATIC_REQUIRE_FALSE(axes_exist<x, 2, -1>);
    STATIC_REQUIRE_FALSE(axes_exist<extents<>, 0>);
}

TEST_CASE("reduce: the argument is evaluated in the same pass, by one node") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 3> x("x");
    placeholder<float, 3> y("y");
    const auto r = reduce_sum<1>(square(x - y));
    CHECK(g.size() == 3);
    CHECK(r.node()->inputs.size() == 2);
    CHECK(r.node()->name == "reduce_sum");
    const session s(g);
    const auto v = s.run(r, feed(x, std::vector<float>{1, 2, 3, 4, 5, 6}), feed(y, std::vector<float>{1, 1, 1}));
    CHECK(op_test::list(v) == std::vector<float>{5, 50});
}

TEST_CASE("reduce: along axes known at run time, the rank in the type where it is known") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, 2, 3> x("x");
    const auto at = feed(x, {{1, 2, 3}, {4, 5, 6}});
    const auto is = [&]<class R>(const auto& y, std::type_identity<R>, const std::vector<float>& values) {
        static_assert(std::is_same_v<std::remove_cvref_t<decltype(y)>, R>);
        const any_array got = s.run(any_tensor(y), at);
        CHECK(std::ranges::equal(got.template elements<float>(), values));
    };
    using one = std::type_identity<tensor<float, dyn>>;
    using two = std::type_identity<tensor<float, dyn, dyn>>;
    using untyped = std::type_identity<any_tensor>;
    is(reduce_sum(x, 1), one(), {6, 15});
    is(reduce_sum(square(x), index_t(0)), one(), {17, 29, 45});
    is(reduce_max(x, -1), one(), {3, 6});
    is(reduce_mean(x, {0, -1}), std::type_identity<tensor<float>>(), {3.5f});
    is(reduce_min(x, {0}, keep_dims), two(), {1, 2, 3});
    is(reduce_sum(x, std::array{1}), one(), {6, 15});
    // how many they are run time knows
    is(reduce_sum(x, std::vector<int>{0}), untyped(), {5, 7, 9});
    is(reduce_sum(x, axis_list{1}, keep_dims), two(), {6, 15});
    is(reduce_sum(any_tensor(x), 1), untyped(), {6, 15});
    CHECK(reduce_sum(square(x), 1).node()->inputs.size() == 1); // in the same pass
    CHECK_THROWS_WITH(reduce_sum(x, 2), contains("reduce_sum: an axis is out of range") && contains("[2, 3]"));
    CHECK_THROWS_WITH(reduce_max(x, {1, -1}), contains("reduce_max: an axis is named twice"));
}

TEST_CASE("reduce: of handles, constants and tensors of unknown type") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    CHECK(s.run(reduce_sum(constant({{1, 2}, {3, 4}}))) == 10);
    CHECK(op_test::list(s.run(reduce_sum<0>(constant({{1, 2}, {3, 4}})))) == std::vector<int>{4, 6});
    placeholder<float, 2, 2> x("x");
    CHECK(s.run(reduce_mean(x), feed(x, {{1, 2}, {3, 6}})) == 3);
    const any_tensor loose = x;
    CHECK(s.run(reduce_mean(loose), feed(x, {{1, 2}, {3, 6}})).value<float>() == 3);
    CHECK(s.run(reduce_sum<-1>(loose * 2.f, keep_dims), feed(x, {{1, 2}, {3, 6}})).shape() == dims{2, 1});
}

TEST_CASE("reduce: each reduction is its own node, also where another is like it") {
    placeholder<float, dyn> x("x");
    CHECK(reduce_sum(x).end() != reduce_mean(x).end());
    CHECK(reduce_sum(x).end() != reduce_sum<0>(x, keep_dims).end());
}

TEST_CASE("reduce: along axes known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({{1.f, 2.f}, {3.f, 5.f}});
    const auto of = [&](const any_tensor& y) { return op_test::list(s.run(tensor<float, dyn>(y))); };
    CHECK(of(reduce_sum(x, {0})) == std::vector<float>{4, 7});
    CHECK(of(reduce_mean(any_tensor(x), {-1})) == std::vector<float>{1.5, 4});
    CHECK(of(reduce_max(x * 2.f, {1})) == std::vector<float>{4, 10});
    CHECK(of(reduce_min(x, {0})) == std::vector<float>{1, 2});
    CHECK(op_test::difference<float>(s.run(reduce_sum(x, {0, 1}, keep_dims)), {1, 1}, {11}) == "");
    CHECK(s.run(reduce_all(x > 0.f, {0}))(1));
    CHECK_FALSE(s.run(reduce_any(x > 7.f, {0}))(1));
    CHECK_THROWS_WITH(reduce_sum(x, {2}), contains("an axis is out of range") && contains("[2, 2]"));
}
