// SPDX-License-Identifier: BSD-3-Clause
#include <rill/expr/structure_program.hpp>

#include <rill/expr/expression.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/derivative.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/tanh.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_structure_program {
template <class E> using structure_of = typename detail::strip<E>::type;
template <class E> const traced_structure& traced(const E&) { return program_of<structure_of<E>>(); }
} // namespace test_structure_program

TEST_CASE("structure_program: leaves and scalars are numbered as they occur") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    placeholder<float, 3, 1> y("y");
    const auto& t = test_structure_program::traced((x * 2.f + y) * tanh(x));
    CHECK(t.body->leaves == std::vector<dtype>(3, dtype::float32)); // x, y, x: the same handle is told apart later
    CHECK(t.body->scalars == std::vector<dtype>{dtype::float32});
    CHECK(t.constants.empty());
    REQUIRE(t.body->code.size() == 4);
    CHECK(t.body->code[0].op->name == "Mul");
    CHECK(t.body->code[0].args == std::vector<int>{0, 3});
    CHECK(t.body->code[1].args == std::vector<int>{4, 1});
    CHECK(t.body->code[2].op->name == "Tanh");
    CHECK(t.body->code[2].args == std::vector<int>{2});
    CHECK(t.body->results == std::vector<int>{7});
    CHECK(t.body->key == "Mul(Add(Mul($0:float32,s0:float32),$1:float32),Tanh($2:float32))");
}

TEST_CASE("structure_program: traced once, whatever the shapes and values") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    placeholder<float, 7> y("y");
    using test_structure_program::traced;
    CHECK(&traced(x * 2.f) == &traced(y * 3.f));
    CHECK(traced(x * 2.f).body == traced(y * -1.f).body);
    CHECK(traced(x * 2.f).body->key != traced(2.f * x).body->key);
    CHECK(traced(x * y).body->key != traced(x + y).body->key);
}

TEST_CASE("structure_program: keys say where dtypes change") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    using test_structure_program::traced;
    CHECK(traced(select(x > 0.f, x, 1.f)).body->key ==
          "Select(Greater($0:float32,s0:float32):bool,$1:float32,s1:float32):float32");
    CHECK(traced(cast<int>(x)).body->key != traced(cast<std::int8_t>(x)).body->key);
}

TEST_CASE("structure_program: a derivative is expanded into its instructions, constants behind its scalars") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const auto& t = test_structure_program::traced(derivative(tanh(x) * 2.f, x));
    REQUIRE(t.body->scalars.size() >= 2);
    CHECK(t.body->scalars[0] == dtype::float32);
    CHECK(t.body->scalars[1] == dtype::boolean);
    CHECK(t.constants.size() == t.body->scalars.size() - 2);
    for (const auto& i : t.body->code) CHECK(i.op->name != "Adjoint");
    CHECK(t.body->key.rfind("Adjoint[Mul(Tanh($0:float32),s0:float32)]", 0) == 0);
}
