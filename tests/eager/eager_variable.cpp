// SPDX-License-Identifier: BSD-3-Clause
#include <rill/eager/eager_variable.hpp>

#include <rill/eager/value_and_grad.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("eager_variable: first values of every kind") {
    const eager_variable<float> rate("rate", 0.5f), whole("whole", 2);
    CHECK(rate.value() == 0.5f);
    CHECK(whole.value() == 2.f);
    const eager_variable<int, 2, 2> table("table", {{1, 2}, {3, 4}});
    CHECK(table.value()(1, 0) == 3);
    const eager_variable<double, 3> flat("flat", std::vector<double>{1, 2, 3});
    CHECK(flat.value()(2) == 3);
    const eager_variable<float, 2> from_array("from_array", xt::xtensor<float, 1>{7, 8});
    CHECK(from_array.value()(1) == 8);
    const eager_variable<std::string, 1> text("text", {"a"});
    CHECK(text.value()(0) == "a");
    CHECK(eager_variable<float, 2>("ones", ones()).value()(1) == 1);
    const eager_variable<float, 4, 4> a("a", glorot_uniform()), b("b", glorot_uniform());
    const auto first = [](const auto& v) { return v.value()(0, 0); };
    CHECK(first(a) != first(b)); // as variables of a graph, whose names tell them apart
    CHECK(first(a) == first(eager_variable<float, 4, 4>("a", glorot_uniform())));
}

TEST_CASE("eager_variable: extents that only run time knows") {
    const index_t n = 3;
    const eager_variable<float, dyn, 2> table("table", dims{n, 2}, ones());
    CHECK(table.array().shape() == dims{3, 2});
    CHECK_THROWS_WITH((eager_variable<float, dyn, 2>("table", dims{n, 3}, ones())), contains("[3, 3], not [?, 2]"));
    CHECK_THROWS_WITH((eager_variable<float, dyn>("open", dims{dyn}, 1)), contains("every extent must be known"));
    const eager_variable<float, dyn> w("w", std::vector<float>{1, 2}), filled("filled", dims{2}, 5);
    w.assign(filled.value() * 2.f);
    CHECK(w.value()(1) == 10);
    w.assign(7);
    CHECK((w.value() == xt::xtensor<float, 1>{7, 7}));
    CHECK_THROWS_WITH(w.assign({1, 2, 3}), contains("[3], not [2]"));
    const auto [value, d] = value_and_grad([](auto v) { return reduce_sum(square(v)); })(w);
    CHECK(value == 98);
    CHECK((d == xt::xtensor<float, 1>{14, 14}));
}

TEST_CASE("eager_variable: copies are the same variable, and what was read stays") {
    const eager_variable<float, 2> w("w", {1, 2});
    const auto same = w;
    const any_array before = w.array();
    same.assign({3, 4});
    w.assign(w.value() * 2.f);
    CHECK(same.value()(1) == 8);
    CHECK(before.elements<float>()[1] == 2);
    CHECK(same.name() == "w");
}

TEST_CASE("eager_variable: what does not fit") {
    CHECK_THROWS_WITH((eager_variable<float, 2>("w", {1, 2, 3})), contains("variable 'w'") && contains("[3], not [2]"));
    const eager_variable<float, 2> w("w", zeros());
    CHECK_THROWS_WITH(w.assign({1}), contains("variable 'w'") && contains("[1], not [2]"));
    CHECK_THROWS_WITH(w.assign(any_array(dtype::int32, {2})), contains("'w' is float32 [2], the value int32 [2]"));
    CHECK(w.value()(0) == 0);
}
