// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/ones_like.hpp>

#include <rill/ops/math/add.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("ones_like: types, shapes and values") {
    op_test::node<double, 2>([](const auto& x) { return ones_like(x); },
                             [](const auto& x) { return xt::xarray<double>(x * 0. + 1.); }, {{30, 41}}, {.order = 0});
    op_test::node<int, 1>([](const auto& x) { return ones_like(x + x); },
                          [](const auto& x) { return xt::xarray<int>(x * 0 + 1); }, {{3}});
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x");
    placeholder<bool, 2> b("b");
    static_assert(std::is_same_v<decltype(ones_like(x)), tensor<double, dyn>>);
    CHECK(s.run(ones_like(b))(1) == static_cast<bool>(1)); // the shape is known: a constant, nothing is fed
    CHECK_FALSE(gradients({sealed(x + ones_like(x))}, {any_placeholder("other", dtype::float64)})[0]);
    const auto [d] = gradients(ones_like(x), x);
    CHECK(s.run(d, feed(x, std::vector<double>{1, 2}))(1) == 0.);
    CHECK(s.run(ones_like(any_tensor(x)), feed(x, std::vector<double>{1, 2})).elements<double>()[1] == 1.);
}
