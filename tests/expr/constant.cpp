// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/constant.hpp>

#include <span>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>

#include "ops/harness.hpp"

using namespace rill;
using op_test::list;

TEST_CASE("constant: types of numbers, braces, text and containers") {
    static_assert(std::is_same_v<decltype(constant(2.f))::operand_type, operand<float>>);
    static_assert(std::is_same_v<decltype(constant({1, 2, 3}))::operand_type, operand<int, 3>>);
    static_assert(std::is_same_v<decltype(constant({{1.f, 2.f}, {3.f, 4.f}}))::operand_type, operand<float, 2, 2>>);
    static_assert(std::is_same_v<decltype(constant({{{1.0}, {2.0}}}))::operand_type, operand<double, 1, 2, 1>>);
    static_assert(std::is_same_v<decltype(constant("text"))::operand_type, operand<std::string>>);
    static_assert(std::is_same_v<decltype(constant(std::vector<int>()))::operand_type, operand<int, dyn>>);
    static_assert(std::is_same_v<decltype(constant<2, 3>(std::vector<int>()))::operand_type, operand<int, 2, 3>>);
    static_assert(std::is_same_v<decltype(constant(xt::xtensor<float, 2>()))::operand_type, operand<float, dyn, dyn>>);
    const session s;
    CHECK(s.run(constant(2.f)) == 2.f);
    CHECK(s.run(constant("text")) == "text");
    CHECK(list(s.run(constant({1, 2, 3}))) == std::vector<int>{1, 2, 3});
    const auto cube = s.run(constant({{{1.0}, {2.0}}, {{3.0}, {4.0}}}));
    CHECK(cube(1, 0, 0) == 3);
    const auto shaped = s.run(constant<2, 3>(std::vector<int>{1, 2, 3, 4, 5, 6}));
    CHECK(shaped(1, 0) == 4);
    CHECK_THROWS_AS((constant<2, 3>(std::vector<int>{1, 2})), invalid_argument);
}

TEST_CASE("constant: keeps a copy of what it was made from") {
    std::vector<float> v{1, 2};
    const auto from_vector = constant(v);
    const auto from_span = constant(std::span<const float>(v));
    xt::xtensor<float, 1> x{3, 4};
    const auto from_xtensor = constant(x);
    v.assign({9, 9});
    x(0) = 9;
    const session s;
    CHECK(list(s.run(from_vector)) == std::vector<float>{1, 2});
    CHECK(list(s.run(from_span)) == std::vector<float>{1, 2});
    CHECK(list(s.run(from_xtensor)) == std::vector<float>{3, 4});
}

TEST_CASE("constant: joins the graph it is used in, once") {
    const auto c = constant({1.f, 2.f});
    const graph g, h;
    for (const graph& home : {g, h}) {
        const graph_scope here(home);
        CHECK(home.size() == 0);
        placeholder<float, 2> x("x");
        const tensor a = x * c, b = x - c * c;
        CHECK(home.size() == 4); // x, c, a, b
        CHECK(a.node()->inputs[1] == b.node()->inputs[1]);
        const session s(home);
        CHECK(list(s.run(b, feed(x, std::vector<float>{1, 1}))) == std::vector<float>{0, -3});
    }
    // constants are equal by what they hold, wherever it lies: its type, shape and contents
    const graph_scope here(g);
    placeholder<float, 2> x("x");
    const tensor same = x * constant({1.f, 2.f}), other = x * constant({1.f, 3.f});
    CHECK(same.node()->inputs[1] == c.join(g));
    CHECK(other.node()->inputs[1] != c.join(g));
    CHECK(constant({1.0, 2.0}).join(g) != c.join(g));
    CHECK(constant({{1.f, 2.f}}).join(g) != c.join(g));
    // without elements only types and shapes tell them apart
    const auto empty = [&](dtype type, const dims& shape) {
        return detail::add_constant(g, any_array(type, shape), true);
    };
    CHECK(empty(dtype::float32, dims{0}) == empty(dtype::float32, dims{0}));
    CHECK(empty(dtype::float32, dims{0}) != empty(dtype::float64, dims{0}));
    CHECK(empty(dtype::float32, dims{0, 2}) != empty(dtype::float32, dims{0, 3}));
}

TEST_CASE("constant: sealed by hand it is a node of its own, which can be fed") {
    const graph g;
    const graph_scope here(g);
    const auto c = constant(2.0);
    const tensor<double> a(c, "a"), b(c, "b");
    CHECK(a.end() != b.end());
    const session s(g);
    CHECK(s.run(square(a)) == 4);
    CHECK(s.run(square(a), feed(a, 3.0)) == 9);
    CHECK(s.run(square(b)) == 4);
}

TEST_CASE("constant: of unknown type") {
    const graph g;
    const graph_scope here(g);
    auto value = op_test::make_array<int>({2}, {1, 2});
    const any_tensor c = constant(value);
    static_cast<int*>(value.mutable_data())[0] = 9;
    const session s(g);
    CHECK(s.run(c).elements<int>()[0] == 1);
    CHECK(c.static_shape() == dims{2});
}

TEMPLATE_TEST_CASE("constant: numbers of 16 bits", "", half, bfloat16) {
    using H = TestType;
    static_assert(std::is_same_v<decltype(constant(H(1.f))), constant_value<H>>);
    static_assert(std::is_same_v<decltype(constant({H(1.f), H(2.f)})), constant_value<H, 2>>);
    const session s;
    CHECK(s.run(constant(H(1.5f)) * H(2.f)) == H(3.f));
    CHECK(list(s.run(constant({H(1.f), H(2.f)}))) == std::vector<H>{H(1.f), H(2.f)});
}

TEST_CASE("constant: has the place where it was made, wherever it joins a graph") {
    const graph g;
    const graph_scope here(g);
    const auto line = std::source_location::current().line();
    const auto number = constant(1.f);
    const auto list_of_two = constant({1.f, 2.f});
    const auto text = constant("text");
    const auto flat = constant(std::vector<float>{3.f, 4.f});
    const any_tensor untyped = constant(any_array(dtype::float32, dims{2}));
    CHECK(number.where().line() == line + 1);
    CHECK(list_of_two.where().line() == line + 2);
    CHECK(text.where().line() == line + 3);
    CHECK(flat.where().line() == line + 4);
    CHECK(untyped.node()->where.line() == line + 5);
    CHECK(number.join(g).from->where.line() == line + 1);
    // an expression of constants alone, shared, takes that of the first
    CHECK(sealed(list_of_two * flat).node()->where.line() == line + 2);
    CHECK(sealed(2.f * flat).node()->where.line() == line + 4);
    const tensor t = list_of_two;
    CHECK(t.node()->where.line() > line + 5);
}
