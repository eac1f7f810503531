// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/fetch.hpp>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("fetch: what can be fetched") {
    STATIC_REQUIRE(is_fetchable<tensor<float, 2>>);
    STATIC_REQUIRE(is_fetchable<variable<float>>);
    STATIC_REQUIRE(is_fetchable<any_tensor>);
    STATIC_REQUIRE(is_fetchable<operation>);
    STATIC_REQUIRE(is_fetchable<named_fetch>);
    STATIC_REQUIRE(is_fetchable<std::vector<any_tensor>>);
    STATIC_REQUIRE(is_fetchable<std::vector<tensor<float>>>);
    STATIC_REQUIRE(is_fetchable<decltype(std::declval<tensor<float>>() + 1.f)>);
    STATIC_REQUIRE(is_fetchable<decltype(constant(1.f))>);
    STATIC_REQUIRE_FALSE(is_fetchable<float>);
    STATIC_REQUIRE_FALSE(is_fetchable<std::string>); // a name is said to be one: fetch("x")
}

TEST_CASE("fetch: each kind comes as its own host type, in the order asked for, operations give nothing") {
    const graph g;
    const graph_scope here(g);
    const variable<int> count("count", 0);
    const placeholder<float, dyn> x("x");
    const tensor y(x + 1.f, "y");
    const operation step(count.assign_add(1).node());
    const session s(g);
    s.run(global_variables_initializer());
    const std::vector<tensor<float, dyn>> both{x, y};
    const std::vector<any_tensor> anys{count, y};
    const std::vector<operation> steps{step, step};
    const auto values =
        s.run(std::tuple(step, y, fetch("y"), count, both, anys, steps, y + x, constant(7)), feed(x, {1.f, 2.f}));
    STATIC_REQUIRE(
        std::is_same_v<decltype(values),
                       const std::tuple<xt::xtensor<float, 1>, any_array, int, std::vector<xt::xtensor<float, 1>>,
                                        std::vector<any_array>, xt::xtensor<float, 1>, int>>);
    CHECK(std::get<0>(values)(1) == 3.f);
    CHECK(std::get<1>(values).elements<float>()[0] == 2.f);
    CHECK(std::get<2>(values) == 0);
    CHECK(std::get<3>(values)[0](1) == 2.f);
    CHECK(std::get<3>(values)[1](1) == 3.f);
    CHECK(std::get<4>(values)[0].value<int>() == 0);
    CHECK(std::get<5>(values)(0) == 3.f);
    CHECK(std::get<6>(values) == 7);
    CHECK(s.run(count) == 1);
    // braces are a list of tensors
    const std::vector<any_array> list = s.run({x, y, x * 2.f}, feed(x, {1.f}));
    CHECK(list[2].value<float>() == 2.f);
    CHECK(s.run({y}, feed(x, {1.f}), {.timeout = std::chrono::hours(1)})[0].value<float>() == 2.f);
}

TEST_CASE("fetch: a list of operations alone gives nothing, and runs") {
    const graph g;
    const graph_scope here(g);
    const variable<int> a("a", 1), b("b", 1);
    const session s(g);
    s.run(global_variables_initializer());
    const std::vector<operation> all{operation(a.assign_add(1).node()), operation(b.assign_add(2).node())};
    STATIC_REQUIRE(std::is_void_v<decltype(s.run(all))>);
    s.run(all);
    CHECK(s.run(std::tuple(a, b)) == std::tuple(2, 3));
    const step_trace trace = s.run_traced(all);
    CHECK(trace.entries.size() == 2);
    s.run(std::vector<operation>());
}

TEST_CASE("fetch: a name may be an operation's, then no value comes") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 2> w("w", {1.f, 2.f});
    const placeholder<float, 2> x("x");
    const tensor y(x + w, "y");
    const operation train = group(w.assign_add(x));
    const std::string name = train.node()->name;
    const session s(g);
    s.run(global_variables_initializer());
    const std::vector<float> in{1, 1};
    STATIC_REQUIRE(std::is_same_v<decltype(s.run(fetch(name), feed(x, in))), any_array>);
    CHECK(s.run(fetch(name), feed(x, in)).empty());
    CHECK(s.run(w)(0) == 2.f);
    const auto [a, b, c, d, e] =
        s.run(std::tuple(fetch(name), y, fetch("y"), fetch(name), std::vector{fetch("y:0"), fetch(name), fetch("w")}),
              feed("x:0", in));
    CHECK((a.empty() && d.empty() && e[1].empty()));
    CHECK((b(1) == 4.f && c.elements<float>()[1] == 4.f && e[0].elements<float>()[1] == 4.f));
    CHECK(e[2].elements<float>()[0] == 2.f);
    CHECK(s.run(w)(0) == 3.f);
    const auto [none, trace] = s.run_traced(fetch(name), feed(x, in));
    CHECK(none.empty());
    CHECK(trace.entries.size() == 1);
    const auto step = s.make_callable(std::tuple(y, fetch(name), x + 0.f, fetch("y:0")), x);
    const auto [first, nothing, second, third] = step(in);
    CHECK(nothing.empty());
    CHECK((first(0) == 5.f && second(0) == 1.f && third.elements<float>()[0] == 5.f));
    CHECK(std::get<0>(s.make_callable(fetch(name), x)(in)).empty());
    CHECK(s.run(w)(0) == 6.f);
    CHECK_THROWS_AS(s.run(fetch(name + ":0"), feed(x, in)), not_found);
    CHECK_THROWS_AS(s.run(y, feed(name, in)), not_found); // nothing to feed
}

TEST_CASE("fetch: values are copies") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 2> w("w", {1.f, 2.f});
    const session s(g);
    s.run(global_variables_initializer());
    const any_array before = s.run(fetch("w:0"));
    s.run(operation(w.assign_add(1.f).node()));
    CHECK(before.elements<float>()[0] == 1.f);
    const std::vector<float> mine{5, 6};
    const auto back = s.run(any_tensor(w), feed(w, mine));
    CHECK(back.data() != mine.data());
    CHECK(back.elements<float>()[1] == 6.f);
}

TEST_CASE("fetch: a handle that promised another shape than the run has is refused") {
    const graph g;
    const graph_scope here(g);
    const any_tensor x = any_placeholder("x", dtype::float32);
    const tensor<float, dyn> row(x);
    const tensor<float, 2> two(x);
    const tensor<float> one(x);
    const session s(g);
    CHECK(s.run(row, feed(x, std::vector<float>{1, 2})).size() == 2);
    CHECK(s.run(two, feed(x, std::vector<float>{1, 2}))(1) == 2.f);
    const xt::xtensor<float, 2> matrix{{1, 2, 3}};
    CHECK_THROWS_AS(s.run(row, feed(x, matrix)), invalid_argument);
    CHECK_THROWS_WITH(s.run(row + 1.f, feed(x, matrix)), contains("[1, 3]") && contains("[?]"));
    CHECK_THROWS_AS(s.run(two, feed(x, std::vector<float>{1, 2, 3})), invalid_argument);
    CHECK_THROWS_AS(s.run(one, feed(x, std::vector<float>{1})), invalid_argument);
    CHECK_THROWS_AS(s.run(std::tuple(x, row), feed(x, 1.f)), invalid_argument);
    CHECK(s.run(one, feed(x, 4.f)) == 4.f);
}

TEST_CASE("fetch: large values are written where they are wanted, whatever else uses them") {
    const graph g;
    const graph_scope here(g);
    constexpr index_t n = 3000;
    const variable<float, n> v("v", std::vector<float>(n, 2.f));
    const placeholder<float, n> x("x");
    const tensor sum(x + v, "sum");
    const tensor flat = reshape<2, n / 2>(sum); // the same memory
    const tensor twice(sum * 2.f, "twice");
    const tensor total = reduce_sum(twice);
    const session s(g);
    s.run(global_variables_initializer());
    const std::vector<float> ones(n, 1.f), fives(n, 5.f);
    const auto call =
        s.make_callable(std::tuple(sum, flat, sum, v, twice, total, x, operation(sum.node()), fetch("sum")), x);
    std::vector<xt::xtensor<float, 1>> kept;
    for (const auto* fed : {&ones, &fives}) {
        const float first = (*fed)[0] + 2;
        auto [a, b, c, d, e, f, h, by_name] = call(*fed);
        CHECK(a(0) == first);
        CHECK(a(n - 1) == first);
        CHECK(b(1, n / 2 - 1) == first);
        CHECK(c(n - 1) == first);
        CHECK(d(n - 1) == 2.f);
        CHECK(e(n - 1) == 2 * first);
        CHECK(f == Approx(2 * first * n));
        CHECK(h(n - 1) == (*fed)[0]);
        CHECK(by_name.elements<float>()[n - 1] == first);
        kept.push_back(std::move(a));
    }
    CHECK(kept[0](n - 1) == 3.f); // the second step wrote into arrays of its own
    CHECK(kept[1](n - 1) == 7.f);
    CHECK(s.run(total, feed(x, ones)) == Approx(6.f * n)); // a frame takes its own memory back

    // a step that fails, and one whose value is not of the promised shape
    placeholder<int, dyn> at("at");
    const tensor rows = gather<0>(x, at);
    const auto both = s.make_callable(std::tuple(twice, rows), x, at);
    CHECK_THROWS_AS(both(ones, std::vector<int>{0, 99999}), invalid_argument);
    CHECK(std::get<0>(both(ones, std::vector<int>{0}))(n - 1) == 6.f);
    const tensor<float, n> promised(any_tensor(gather(any_tensor(x), any_tensor(at), 0)));
    CHECK_THROWS_WITH(s.run(promised, feed(x, ones), feed(at, std::vector<int>(2000, 1))),
                      contains("[3000]") && contains("[2000]"));
}

TEST_CASE("fetch: memory shared under several shapes comes in the shape that was asked for") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, dyn> x("x");
    const tensor y = x * 2.f;
    const tensor<float, dyn, dyn> wide{any_tensor(reshape<30, dyn>(y))};
    const session s(g);
    xt::xtensor<float, 2> at({40, 30});
    for (std::size_t i = 0; i < at.size(); ++i) at.storage()[i] = static_cast<float>(i);
    const auto is = [](const auto& value, std::size_t rows, std::size_t columns) {
        return value.shape(0) == rows && value.shape(1) == columns && value(rows - 1, columns - 1) == 2 * 1199.f &&
               value(1, 0) == 2.f * static_cast<float>(columns);
    };
    CHECK(is(s.run(wide, feed(x, at)), 30, 40));
    const auto [first, second] = s.run(std::tuple(wide, y), feed(x, at));
    CHECK(is(first, 30, 40));
    CHECK(is(second, 40, 30));
    const auto [third, fourth] = s.run(std::tuple(y, wide), feed(x, at));
    CHECK(is(third, 40, 30));
    CHECK(is(fourth, 30, 40));
}
