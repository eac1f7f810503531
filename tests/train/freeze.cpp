// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/freeze.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("freeze: variables become constants of a graph that runs by names") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 2> x("x");
    const variable<float, 2, 2> w("w", {{1.f, 2.f}, {3.f, 4.f}});
    const variable<float> unused("unused", 1.f), scale("scale", 1.f);
    const tensor<float, dyn, 2> product = matmul(x, w);
    const auto y = cond(scale > 1.f, [&] { return product * scale; }, [&] { return product; });
    const session s(g);
    CHECK_THROWS_WITH(freeze(s, {y}), contains("'w', 'scale'"));
    s.run(global_variables_initializer());
    const any_tensor doubled = scale.assign(scale * 2.f);
    s.run(doubled);
    const graph frozen = freeze(s, {y});
    for (const auto* n : frozen.nodes()) CHECK(n->op->role() != op_role::variable);
    const session f(frozen);
    const xt::xtensor<float, 2> in{{1, 1}};
    const auto out = f.run(fetch(y.name()), feed("x:0", in));
    CHECK(std::vector<float>(out.elements<float>().begin(), out.elements<float>().end()) == std::vector<float>{8, 12});
    CHECK_THROWS_WITH(freeze(s, {doubled}), contains("writes a variable"));
    CHECK_THROWS_AS(freeze(s, {any_tensor()}), invalid_argument);
    CHECK_THROWS_AS(freeze(s, {}), invalid_argument);
}
