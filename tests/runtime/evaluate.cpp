// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/evaluate.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("evaluate: constants, without touching the default graph") {
    const auto before = default_graph().size();
    for (int i = 0; i < 40; ++i) { // more scalars than are kept
        const float f = static_cast<float>(i % 20);
        const auto v = evaluate(f * constant({1.f, 2.f}) + 1.f);
        CHECK(v(0) == f + 1.f);
        CHECK(v(1) == 2.f * f + 1.f);
    }
    CHECK(evaluate(constant({1.f, 2.f}) * constant(3.f))(1) == 6.f);
    CHECK(evaluate(constant(5)) == 5);
    CHECK(evaluate(constant("text")) == "text");
    CHECK(default_graph().size() == before);
}

TEST_CASE("evaluate: one structure, different shapes") {
    CHECK(evaluate(2.f * constant(std::vector<float>{1.f, 2.f, 3.f}))(2) == 6.f);
    CHECK(evaluate(2.f * constant(std::vector<float>{5.f}))(0) == 10.f);
}

TEST_CASE("evaluate: tensors of a graph") {
    const graph g;
    const graph_scope here(g);
    tensor a = constant({{1.f, 2.f}, {3.f, 4.f}});
    CHECK(evaluate(matmul(a, a))(1, 1) == 22.f);
    placeholder<float> x("x");
    CHECK_THROWS_AS(evaluate(x + 1.f), invalid_argument);
}
