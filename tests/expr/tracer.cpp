// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/tracer.hpp>

#include <rill/ops/math/cast.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tanh.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("tracer: numbers leaves, scalars and instructions, and spells the program out") {
    tracer t({dtype::float32, dtype::float32}, {scalar_value(2.f)});
    const int product = t.emit(info_of<mul_op>, dtype::float32, {t.leaf(0), t.scalar(0)});
    const int sum = t.emit(info_of<add_op>, dtype::float32, {product, t.leaf(1)});
    CHECK(t.type_of(product) == dtype::float32);
    const auto p = t.finish({sum, t.leaf(1)});
    CHECK(p->first_scalar() == 2);
    CHECK(p->first_instruction() == 3);
    REQUIRE(p->code.size() == 2);
    CHECK(p->code[0].args == std::vector<int>{0, 2});
    CHECK(p->code[1].args == std::vector<int>{3, 1});
    CHECK(p->results == std::vector<int>{4, 1});
    CHECK(p->key == "program float32 float32; float32; Mul:float32 0 2; Add:float32 3 1 -> 4 1");
    CHECK(p->type_of(4) == dtype::float32);
}

TEST_CASE("tracer: appends a program, to be gone on with") {
    tracer first({dtype::float32}, {scalar_value(2.f)});
    const auto p = first.finish({first.emit<mul_op>({first.leaf(0), first.scalar(0)})});
    tracer t({dtype::float32, dtype::float32}, {scalar_value(2.f)});
    const auto values = t.append(*p);
    REQUIRE(values.size() == 3); // leaf, scalar, product
    CHECK(values[0] == t.leaf(0));
    CHECK(values[1] == t.scalar(0));
    const auto more = t.finish({t.emit<add_op>({values[static_cast<std::size_t>(p->results[0])], t.leaf(1)})});
    CHECK(more->key == "program float32 float32; float32; Mul:float32 0 2; Add:float32 3 1 -> 4");
}

TEST_CASE("tracer: equal instructions become one, unequal ones do not") {
    tracer t({dtype::float32, dtype::float64}, {});
    const int a = t.emit(info_of<tanh_op>, dtype::float32, {t.leaf(0)});
    CHECK(t.emit(info_of<tanh_op>, dtype::float32, {t.leaf(0)}) == a);
    CHECK(t.emit(info_of<tanh_op>, dtype::float64, {t.leaf(1)}) != a);
    CHECK(t.emit(info_of<cast_op<std::int32_t>>, dtype::int32, {t.leaf(0)}) !=
          t.emit(info_of<cast_op<std::int8_t>>, dtype::int8, {t.leaf(0)}));
    CHECK(t.finish({a})->code.size() == 4);
}

TEST_CASE("tracer: constants merge with each other by bits, never with the node's own scalars") {
    tracer t({dtype::float32}, {scalar_value(1.f)});
    t.fix_scalars(1);
    const int one = t.constant(scalar_value(1.f));
    CHECK(one != t.scalar(0));
    CHECK(t.constant(scalar_value(1.f)) == one);
    CHECK(t.constant(scalar_value(1.0)) != one);
    CHECK(t.constant(scalar_value(0.f)) != t.constant(scalar_value(-0.f)));
    CHECK(t.scalars().size() == 5);
}

TEST_CASE("tracer: value functions run on symbols, literals stay literals until they meet one") {
    tracer t({dtype::float32}, {});
    const symbol<float> x(t, t.leaf(0)), two(2), three(3);
    const auto six = two * three;
    CHECK(six.is_literal());
    CHECK(six.literal() == 6);
    const auto y = tanh(x) * (two + three) - x;
    CHECK_FALSE(y.is_literal());
    const auto p = t.finish({y.id(t)});
    CHECK(p->key == "program float32; float32; Tanh:float32 0; Mul:float32 2 1; Sub:float32 3 0 -> 4");
    CHECK(t.scalars()[0] == scalar_value(5.f));
    STATIC_REQUIRE((symbolic<symbol<int>> && !symbolic<int>));
    CHECK(symbol<int>(2.9).literal() == 2);
    CHECK(symbol<std::complex<float>>(2).literal() == std::complex<float>(2, 0));
}
