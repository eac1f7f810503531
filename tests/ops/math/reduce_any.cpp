// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_any.hpp>

#include <rill/ops/math/greater.hpp>

#include "ops/reduction.hpp"

using namespace rill;

namespace test_reduce_any {

static_assert(std::is_same_v<decltype(reduce_any<1>(std::declval<tensor<bool, 2, dyn>>())), tensor<bool, 2>>);
static_assert(
    std::is_same_v<decltype(reduce_any<0>(std::declval<tensor<bool, 2, dyn>>(), keep_dims)), tensor<bool, 1, dyn>>);

struct op {
    template <int... Axes> static auto run(const auto& x, auto... keep) { return reduce_any<Axes...>(x > 0, keep...); }
    template <class T> static T of(const std::vector<T>& v) {
        return static_cast<T>(std::any_of(v.begin(), v.end(), [](const T& x) { return x > 0; }));
    }
};

TEST_CASE("reduce_any: values over axes, of expressions") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<int, dyn, dyn> x("x");
    const std::vector<std::vector<int>> tables{
        {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}, {1, 0, 1, 1, 1, 1}, {0, 0, 0, 1, 0, 0}};
    for (const auto& values : tables) {
        xt::xarray<int> table(std::vector<std::size_t>{2, 3});
        std::copy(values.begin(), values.end(), table.begin());
        const xt::xtensor<int, 2> at = table;
        const auto rows = op_test::reduced<op, 1>(table, false), columns = op_test::reduced<op, 0>(table, false),
                   whole = op_test::reduced<op>(table, false);
        CHECK(op_test::list(s.run(op::run<1>(x), feed(x, at))) == std::vector<bool>(rows.begin(), rows.end()));
        CHECK(op_test::list(s.run(op::run<-2>(x), feed(x, at))) == std::vector<bool>(columns.begin(), columns.end()));
        CHECK(s.run(op::run<>(x), feed(x, at)) == (whole() != 0));
    }
    CHECK(s.run(op::run<>(x), feed(x, xt::xtensor<int, 2>({0, 3}))) == false);
    const xt::xtensor<int, 2> many({1000, 37}, 0);
    auto one = many;
    one(700, 3) = 1;
    CHECK(s.run(op::run<>(x), feed(x, many)) != s.run(op::run<>(x), feed(x, one)));
}

TEST_CASE("reduce_any: only of bool") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    CHECK_THROWS_WITH(reduce_any(any_tensor(tensor(constant({1, 2})))),
                      contains("reduce_any: the elements of") && contains("int32"));
    CHECK_FALSE(s.run(reduce_any(any_tensor(tensor(constant({false, false}))))).elements<bool>()[0]);
}

} // namespace test_reduce_any
