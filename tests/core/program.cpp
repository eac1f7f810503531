// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/program.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_program {

inline constexpr elementwise_info mul{"Mul"}, greater{"Greater"};

/// greater(x * y, 2.f) over float leaves
inline program sample() {
    program p;
    p.leaves = {dtype::float32, dtype::float32};
    p.scalars = {dtype::float32};
    p.code = {{&mul, dtype::float32, {0, 1}}, {&greater, dtype::boolean, {3, 2}}};
    p.results = {4};
    p.key = "Greater(Mul($0:float32,$1:float32),s0:float32):bool";
    return p;
}

} // namespace test_program

TEST_CASE("program: values are leaves, then scalars, then instructions") {
    const program p = test_program::sample();
    CHECK(p.first_scalar() == 2);
    CHECK(p.first_instruction() == 3);
    CHECK(p.type_of(0) == dtype::float32);
    CHECK(p.type_of(2) == dtype::float32);
    CHECK(p.type_of(3) == dtype::float32);
    CHECK(p.type_of(4) == dtype::boolean);
}

TEST_CASE("program: what it uses, and what it costs") {
    program p = test_program::sample();
    p.leaves.push_back(dtype::float32); // not used; scalars and instructions move up by one
    p.code[0].args = {0, 1};
    p.code[1].args = {4, 3};
    p.results = {5};
    CHECK(p.work() == 2);
    CHECK(p.uses(0));
    CHECK(p.uses(1));
    CHECK_FALSE(p.uses(2));
    CHECK(p.uses(5));
    fused_spec spec;
    spec.kind = fused_spec::form::program;
    spec.leaves = {{0, {}}, {1, {}}, {2, {}}};
    spec.body = std::make_shared<const program>(p);
    CHECK(spec.reads_leaf(0));
    CHECK_FALSE(spec.reads_leaf(2));
    spec.kind = fused_spec::form::forward; // by its key a compiled kernel may serve it, which loads every leaf
    CHECK(spec.reads_leaf(2));
    p.key = spelled_key(p);
    spec.body = std::make_shared<const program>(p);
    CHECK_FALSE(spec.reads_leaf(2));
    spec.kind = fused_spec::form::adjoint;
    CHECK(spec.reads_leaf(2));
}

TEST_CASE("program: an instruction's key names its operands' types, and its result's where that differs") {
    const program p = test_program::sample();
    CHECK(instruction_key(p, p.code[0]) == "Mul($0:float32,$1:float32)");
    CHECK(instruction_key(p, p.code[0], 0) == "Mul(s0:float32,$0:float32)");
    CHECK(instruction_key(p, p.code[0], 1) == "Mul($0:float32,s0:float32)");
    CHECK(instruction_key(p, p.code[1]) == "Greater($0:float32,$1:float32):bool");
    CHECK(result_suffix(dtype::float32, dtype::float32).empty());
}

TEST_CASE("program: the key of an expression, where leaves, scalars and instructions are each used once and in order") {
    const program p = test_program::sample();
    CHECK(expression_key(p) == p.key);
    CHECK(spelled_key(p) == "program float32 float32; float32; Mul:float32 0 1; Greater:bool 3 2 -> 4");
    const auto without = [&](auto&& change) {
        program q = p;
        change(q);
        return expression_key(q);
    };
    CHECK(without([](program& q) { q.code[0].args = {1, 0}; }).empty());
    CHECK(without([](program& q) { q.code[0].args = {0, 0}; }).empty());
    CHECK(without([](program& q) { q.results = {4, 3}; }).empty());
    CHECK(without([](program& q) { q.results = {3}; }).empty());
    CHECK(without([](program& q) { q.leaves.push_back(dtype::int32); }).empty());
    CHECK(without([](program& q) { q.scalars.push_back(dtype::int32); }).empty());
    program one;
    one.leaves = {dtype::int64};
    one.results = {0};
    CHECK(expression_key(one) == "$0:int64");
    one.leaves.clear(), one.scalars = {dtype::int64};
    CHECK(expression_key(one).empty());
    // 2^40 paths lead to the leaf: they are not walked
    program deep;
    deep.leaves = {dtype::float32};
    for (int k = 0; k < 40; ++k) deep.code.push_back({&test_program::mul, dtype::float32, {k, k}});
    deep.results = {40};
    CHECK(expression_key(deep).empty());
}

TEST_CASE("scalar_value: compared by type and bits") {
    CHECK(scalar_value(1.f) == scalar_value(1.f));
    CHECK_FALSE(scalar_value(0.f) == scalar_value(-0.f));
    CHECK(scalar_value(std::nanf("")) == scalar_value(std::nanf("")));
    CHECK_FALSE(scalar_value(1) == scalar_value(std::uint32_t{1}));
    CHECK(scalar_value(std::complex<double>(1, -2)).as<std::complex<double>>().imag() == -2);
    CHECK(scalar_value(half(0.5f)).type == dtype::half);
}

TEST_CASE("fused_spec: equal are those that do the same, whichever program object they hold") {
    fused_spec a;
    a.body = std::make_shared<const program>(test_program::sample());
    a.leaves = {{0, {}}, {1, {}}};
    a.scalars = {scalar_value(2.f)};
    a.results.resize(1);
    fused_spec b = a;
    b.body = std::make_shared<const program>(test_program::sample());
    CHECK(a == b);
    b.scalars = {scalar_value(3.f)};
    CHECK_FALSE(a == b);
    b = a;
    b.leaves[1].input = 0;
    CHECK_FALSE(a == b);
    b = a;
    b.results[0].reduce = {combine::sum, {0}, false};
    CHECK_FALSE(a == b);
}

TEST_CASE("fused_space: the shape the leaves broadcast to, views of reductions aside") {
    fused_spec s;
    s.leaves = {{0, {}}, {1, {}}};
    std::vector<tensor_type> in{{dtype::float32, dims{4, 1}}, {dtype::float32, dims{3}}};
    CHECK(fused_space(s, in).shape == dims{4, 3});
    in[1].shape = dims{2, 1, 3};
    CHECK(fused_space(s, in).shape == dims{2, 4, 3});
    in[1].shape = dims{3, 2};
    CHECK_FALSE(fused_space(s, in).ok());
    s.leaves[1].view = {combine::sum, {0}, false};
    CHECK(fused_space(s, in).shape == dims{4, 1});
}

TEST_CASE("combine: names") {
    CHECK(to_string(combine::map) == "Map");
    CHECK(to_string(combine::mean) == "Mean");
    CHECK(to_string(combine::any) == "Any");
}
