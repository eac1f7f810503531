// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/stop_gradient.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("stop_gradient: the value passes, the gradient does not") {
    op_test::node<double, 2>([](const auto& x) { return stop_gradient(x); }, [](const auto& x) { return x; }, {{3, 4}},
                             {.order = 0});
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x");
    static_assert(std::is_same_v<decltype(stop_gradient(x)), tensor<double, dyn>>);
    const auto y = stop_gradient(x * x) * x;
    const auto [dx] = gradients(y, x);
    CHECK(s.run(dx, feed(x, std::vector<double>{3.}))(0) == 9.);
    const auto none = gradients({sealed(stop_gradient(x))}, {x});
    CHECK_FALSE(bool(none[0]));
    const auto text = stop_gradient(constant("text"));
    CHECK(s.run(text) == "text");
}
