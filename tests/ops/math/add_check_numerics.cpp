// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/add_check_numerics.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("add_check_numerics: the first node that gives NaN or an infinity is named") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float> x("x");
    tensor<float> half, logarithm;
    {
        const name_scope scope("layer");
        half = x / 2.f;
        logarithm = log(half);
    }
    const operation checks = add_check_numerics();
    s.run(checks, feed(x, 1.f));
    CHECK_THROWS_WITH(s.run(checks, feed(x, 0.f)),
                      contains("an infinity") && contains("of '" + logarithm.name() + "'"));
}
