// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/expression.hpp>

#include <rill/expr/tensor.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/group.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_expression {

template <int N, class X> auto doubled(const X& x) {
    if constexpr (N == 0)
        return x;
    else
        return doubled<N - 1>(x + x);
}

template <class E> constexpr int weight(const E&) { return detail::weight_of<E>; }

} // namespace test_expression

TEST_CASE("expression: x = x + x, fifty times, stays small in types, graph and time") {
    const graph g;
    const graph_scope here(g);
    placeholder<double, dyn> x("x");
    const auto x1 = x + x;
    const auto x2 = x1 + x1;
    const auto x3 = x2 + x2;
    const auto y = test_expression::doubled<47>(x3);
    STATIC_REQUIRE(detail::weight_of<std::remove_const_t<decltype(y)>> <= weight_limit);
    STATIC_REQUIRE(sizeof(y) < 600);
    CHECK(g.size() == 1);
    const tensor sealed_y = y;
    CHECK(g.size() < 20);
    const session s(g);
    CHECK(s.run(sealed_y, feed(x, std::vector<double>{1}))(0) == 1125899906842624.0);
    const auto [d] = gradients(sealed_y, x);
    CHECK(s.run(d, feed(x, std::vector<double>{1}))(0) == 1125899906842624.0);
    // the same under scopes that could tell the uses apart
    const device_scope on("/device:cpu:0");
    const name_scope scope("again");
    const tensor again = y;
    CHECK(g.size() < 80);
    CHECK(s.run(again, feed(x, std::vector<double>{1}))(0) == 1125899906842624.0);
}

TEST_CASE("expression: of constants alone, fifty times") {
    const graph g;
    const graph_scope here(g);
    const auto y = test_expression::doubled<50>(constant({1.0, 2.0}));
    CHECK(g.size() == 0);
    CHECK(session(g).run(y)(1) == 2251799813685248.0);
    CHECK(g.size() < 20);
}

TEST_CASE("expression: the heaviest part is deferred, the rest stays in the type") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto heavy = test_expression::doubled<4>(tanh(x)); // 31 operations: 15 + 16 tanh
    STATIC_REQUIRE(detail::weight_of<std::remove_const_t<decltype(heavy)>> <= weight_limit);
    const auto light = square(x) - 1.f;
    const auto both = heavy + light;
    STATIC_REQUIRE(detail::weight_of<std::remove_const_t<decltype(light)>> == 2);
    STATIC_REQUIRE(detail::weight_of<std::remove_const_t<decltype(both)>> <= weight_limit);
    const session s(g);
    const float v = 0.5f;
    CHECK(s.run(both, feed(x, std::vector<float>{v}))(0) == Approx(16 * std::tanh(v) + v * v - 1));
}

TEST_CASE("expression: operators touch no graph, sealing does") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto y = test_expression::doubled<30>(x) * 2.f;
    const auto copy = y;
    CHECK(g.size() == 1);
    const auto first = sealed(copy);
    CHECK(g.size() > 1);
    CHECK(first.end() == sealed(y).end());
}

TEST_CASE("expression: what is sealed by itself is shared by equal expressions over the same leaves") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x"), z("z");
    const auto e = [&](float c) { return sealed(x * c + z).end(); };
    CHECK(e(2) == e(2));
    CHECK(e(2) != e(3));
    CHECK(e(0.f) != e(-0.f)); // scalars compare by bits
    CHECK(e(std::nanf("")) == e(std::nanf("")));
    CHECK(sealed(x * z).end() != sealed(z * x).end());
    CHECK(sealed(x * z).end() == sealed(x * z).end());
    CHECK(sealed(x * x).end() != sealed(x * z).end()); // one type, other leaves
    CHECK(sealed(x * 2.f).end() != sealed(2.f * x).end());
    // a node made by hand is never shared
    const tensor t = x * z;
    CHECK(t.end() != sealed(x * z).end());
    const tensor u = x * z;
    CHECK(t.end() != u.end());
    // equal leaves become one input
    CHECK(sealed(x * x + x).node()->inputs.size() == 1);
}

TEST_CASE("expression: other control dependencies, devices or neighbours make other nodes") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x"), z("z");
    const operation before = group(z);
    const auto plain = sealed(x * z).end();
    const auto after = [&] {
        const control_dependencies wait(before);
        return sealed(x * z).end();
    };
    CHECK(after() != plain);
    CHECK(after() == after());
    CHECK(after().from->control_inputs == std::vector<const node*>{before.node()});
    const auto elsewhere = [&] {
        const device_scope on("/device:cpu:1");
        return sealed(x * z).end();
    };
    CHECK(elsewhere() != plain);
    CHECK(elsewhere() == elsewhere());
    const auto beside = [&] {
        const colocate_with there(x);
        return sealed(x * z).end();
    };
    CHECK(beside() != plain);
    {
        const name_scope scope("named");
        CHECK(sealed(x * z).end() == plain); // a name is no difference
    }
    CHECK(sealed(x * z).end() == plain);
}

TEST_CASE("expression: a deferred part is sealed in the scopes of its parent") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x"), z("z");
    const auto heavy = test_expression::doubled<5>(x);
    const auto y = heavy * 2.f;
    const operation before = group(z);
    const auto plain = sealed(y).end();
    const control_dependencies wait(before);
    const auto later = sealed(y).end();
    CHECK(later != plain);
    for (const auto& e : later.from->inputs)
        if (e != x.end()) CHECK(e.from->control_inputs == std::vector<const node*>{before.node()});
    CHECK(sealed(y).end() == later);
}

TEST_CASE("expression: a deferred part does not stay on the device of its first parent") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto y = test_expression::doubled<6>(x);
    const auto devices = [&](const endpoint& e) {
        std::vector<std::string> all;
        for (const auto& i : e.from->inputs) all.push_back(i.from->device);
        return all;
    };
    const auto there = [&] {
        const device_scope on("/device:cpu:1");
        return sealed(y).end();
    }();
    for (const auto& d : devices(there)) CHECK(d.find("1") != std::string::npos);
    for (const auto& d : devices(sealed(y).end())) CHECK(d == "");
}

TEST_CASE("expression: graphs do not mix") {
    const graph g, h;
    any_tensor foreign;
    {
        const graph_scope there(h);
        foreign = placeholder<float, dyn>("theirs");
    }
    const graph_scope here(g);
    placeholder<float, dyn> x("ours");
    const tensor<float, dyn> y(foreign);
    CHECK_THROWS_AS(sealed(x + y), invalid_argument);
    CHECK_THROWS_WITH(sealed(x + y), contains("theirs") && contains("add") && contains("another graph"));
    CHECK_THROWS_WITH(any_tensor(x) + foreign, contains("theirs"));
    CHECK_THROWS_AS(session(g).run(y + y), invalid_argument);
    // an expression belongs to the graph of its leaves, wherever it is sealed
    const auto theirs = sealed(y + y);
    CHECK(theirs.graph() == h);
    CHECK(g.size() == 1);
}

TEST_CASE("expression: what types can't show is checked when it runs") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 3> x("x");
    placeholder<float, dyn, 1> z("z");
    const tensor<float, dyn, 3> y(x * 2.f + z, "blend");
    const session s(g);
    const xt::xtensor<float, 2> two(std::array<std::size_t, 2>{2, 3}, 1.f),
        column(std::array<std::size_t, 2>{4, 1}, 1.f);
    CHECK_THROWS_AS(s.run(y, feed(x, two), feed(z, column)), invalid_argument);
    CHECK_THROWS_WITH(s.run(y, feed(x, two), feed(z, column)), contains("add: the shapes do not broadcast") &&
                                                                   contains("[2, 3]") && contains("[4, 1]") &&
                                                                   contains("blend") && contains("expression.cpp"));
}

TEST_CASE("expression: nodes that compute the same one after the other share an op, and so do their gradients") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const tensor a = x * 2.f, b = a * 2.f, c = b * 3.f, d = c * x, e = d * d;
    CHECK(a.node()->op == b.node()->op);
    CHECK_FALSE(b.node()->op == c.node()->op); // another number
    CHECK_FALSE(d.node()->op == e.node()->op); // one leaf where there were two
    const auto op = [](const any_tensor& t) { return t.node()->op; };
    const auto [da] = gradients(a, x);
    const auto [db] = gradients(b, a);
    const auto [dc] = gradients(c, b);
    CHECK(op(da) == op(db));
    CHECK_FALSE(op(db) == op(dc));
    const session s(g);
    const auto got = s.run(da, feed(x, std::vector<float>{1, 2}));
    CHECK(got(0) == 2);
    CHECK(s.run(dc, feed(x, std::vector<float>{1, 2}))(1) == 3);
}
