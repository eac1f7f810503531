// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/random/random_uniform_like.hpp>

#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/state/variable.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("random_uniform_like: a variable whose shape is taken need not have a value") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 2> v("v", {1.f, 2.f});
    const session s;
    CHECK(s.run(random_uniform_like(v)).size() == 2);
    CHECK_THROWS_AS(s.run(v), failed_precondition);
}

TEST_CASE("random_uniform_like: what random_uniform draws, in a shape that the run knows") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 3> x("x");
    const auto y = random_uniform_like(x, {.seed = 7});
    static_assert(std::is_same_v<decltype(y), const tensor<float, dyn, 3>>);
    const session s(g);
    const xt::xtensor<float, 2> at({4, 3}, 0.f);
    const auto first = op_test::list(s.run(y, feed(x, at)));
    CHECK(first == op_test::list(s.run(random_uniform<float, 4, 3>({.seed = 7}))));
    CHECK(first != op_test::list(s.run(y, feed(x, at)))); // drawn anew
    CHECK(s.run(y, feed(x, xt::xtensor<float, 2>({0, 3}))).size() == 0);
    const op_ptr made = make_op(random_uniform_like_op{7});
    CHECK(make_op("RandomUniformLike", 1, bytes_of_fields(*made))->equals(*made));
}
