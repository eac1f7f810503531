// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/gather.hpp>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_gather {

template <class T, class I, int Axis>
using gathered_type = decltype(gather<Axis>(std::declval<const T&>(), std::declval<const I&>()));
static_assert(std::is_same_v<gathered_type<tensor<float, 5, 3>, tensor<int, dyn>, 0>, tensor<float, dyn, 3>>);
static_assert(
    std::is_same_v<gathered_type<tensor<float, 5, 3>, tensor<std::int64_t, 2, 4>, 1>, tensor<float, 5, 2, 4>>);
static_assert(std::is_same_v<gathered_type<tensor<float, 5, 3>, tensor<int>, -1>, tensor<float, 5>>);
static_assert(std::is_same_v<gathered_type<any_tensor, tensor<int>, 0>, any_tensor>);

/// table [outer, extent, inner] along the middle axis, ids as a matrix.
template <class T> xt::xarray<T> chosen(const xt::xarray<T>& table, const xt::xtensor<int, 2>& ids) {
    xt::xarray<T> out(std::vector<std::size_t>{table.shape(0), ids.shape(0), ids.shape(1), table.shape(2)});
    for (std::size_t o = 0; o < table.shape(0); ++o)
        for (std::size_t i = 0; i < ids.shape(0); ++i)
            for (std::size_t j = 0; j < ids.shape(1); ++j)
                for (std::size_t k = 0; k < table.shape(2); ++k)
                    out(o, i, j, k) = table(o, static_cast<std::size_t>(ids(i, j)), k);
    return out;
}
const xt::xtensor<int, 2> some{{1, 3, 3}, {0, 1, 1}};

TEST_CASE("gather: values and gradients") {
    const auto f = [](const auto& table) { return gather<1>(table, constant(some)); };
    for (const index_t inner : {1, 5, 40}) {
        op_test::node<double, 3>(f, [](const auto& t) { return chosen<double>(t, some); }, {{2, 4, inner}},
                                 {.order = inner < 10 ? 2 : 0});
        op_test::node<float, 3>(f, [](const auto& t) { return chosen<float>(t, some); }, {{2, 4, inner}});
        op_test::node<int, 3>(f, [](const auto& t) { return chosen<int>(t, some); }, {{2, 4, inner}});
    }
    op_test::node<double, 3>(
        [](const auto& t) { return gather<-2>(t * t, constant(xt::xtensor<std::int64_t, 2>(some))); },
        [](const auto& t) { return chosen<double>(t * t, some); }, {{2, 4, 3}});
    op_test::node<double, 1>([](const auto& t) { return gather(t, constant(2)); },
                             [](const auto& t) { return xt::xarray<double>(t(2)); }, {{4}});
}

TEST_CASE("gather: no ids, no rows, text, a variable") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<int, dyn> ids("ids");
    variable<float, 3, 2> table("table", {{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    s.run(global_variables_initializer());
    const auto rows = gather(table, ids);
    CHECK(s.run(rows, feed(ids, std::vector<int>{2, 0}))(0, 1) == 6.f);
    CHECK(s.run(rows, feed(ids, std::vector<int>{})).size() == 0);
    CHECK(s.run(gather(constant({std::string("a"), std::string("b")}), ids), feed(ids, std::vector<int>{1}))(0) == "b");
    const auto none = gather(any_tensor(any_placeholder("none", dtype::float32)), ids);
    CHECK(s.run(none, feed("none:0", std::vector<float>{}), feed(ids, std::vector<int>{})).size() == 0);
    const auto [d] = gradients(rows * rows, table);
    const auto dv = s.run(d, feed(ids, std::vector<int>{1, 1}));
    CHECK(dv(0, 0) == 0.f);
    CHECK(dv(1, 0) == 12.f);
}

TEST_CASE("gather: a look-up in a variable sits beside it, so that rows travel and no table") {
    const graph g;
    const graph_scope here(g);
    const auto table = [] {
        const device_scope server("/job:ps/task:1");
        return variable<float, 3, 2>("table", {{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    }();
    placeholder<int, dyn> ids("ids");
    const device_scope worker("/job:worker/cpu:0");
    const auto beside = [&](const any_tensor& rows) { return rows.node()->colocated; };
    CHECK(beside(gather(table, ids)) == table.node());
    CHECK(beside(gather(any_tensor(table), ids, 1)) == table.node());
    CHECK(beside(gather(table.assign_add(1.f), ids)) == table.node());
    CHECK(requested_device(*gather(table, ids).node()) == "/job:ps/task:1");
    CHECK(beside(gather(tensor(table * 2.f), ids)) == nullptr);
    const tensor rows = gather(table, ids);
    const auto [slope] = gradients(rows * rows, table);
    CHECK(beside(slope) == nullptr); // the dense gradient is the worker's
    const device_scope here_all_the_same("/job:worker/cpu:0", explicitly);
    CHECK(beside(gather(table, ids)) == nullptr);
    CHECK(requested_device(*gather(table, ids).node()) == "/job:worker/device:cpu:0");
}

TEST_CASE("gather: refusals") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<int, dyn, dyn> ids("ids");
    const tensor table = constant({{1.f, 2.f}, {3.f, 4.f}});
    const auto y = gather(table, ids);
    CHECK_THROWS_AS(s.run(y, feed(ids, xt::xtensor<int, 2>{{0, 1}, {0, 2}})), invalid_argument);
    CHECK_THROWS_WITH(s.run(y, feed(ids, xt::xtensor<int, 2>{{0, 1}, {0, 2}})),
                      contains("gather: id 2 at [1, 1] is outside [0, 2)") && contains("gather.cpp"));
    CHECK_THROWS_WITH(s.run(y, feed(ids, xt::xtensor<int, 2>{{-1, 1}})), contains("id -1 at [0, 0]"));
    CHECK(s.run(y, feed(ids, xt::xtensor<int, 2>{{1}}))(0, 0, 1) == 4.f); // the session goes on
    CHECK_THROWS_WITH(gather(table, any_tensor(tensor(constant({1.f})))),
                      contains("gather: the ids must be int32 or int64, not float32"));
    CHECK_THROWS_WITH(gather(table, ids, 2), contains("gather: the axis is out of range"));
    CHECK(s.run(gather(table, ids, -1), feed(ids, xt::xtensor<int, 2>{{1}}))(1, 0, 0) == 4.f);
}

} // namespace test_ops_array_gather
